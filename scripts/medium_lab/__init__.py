"""Experiments with media that lose and gain bits, and with the decoder of the fifth paper.

    programs.py    Firn's programs: built, run, timed
    printed.py     what the paper and the decoder's specification print
    paper.py       the paper's figures on one core: throughput, forms, storage
    rates.py       symbol error rates, wrong parameters, streams, Reed-Solomon behind it
    planned.py     frame losses that the plan reckons with, beside those that are seen
    whole.py       a whole content: written, passed through a channel, read
    recovered.py   what a channel leaves of a file: copied, behind Reed-Solomon, by Firn
    drawing.py     a picture to damage; pictures as PNG
    charts.py      lines as SVG
    markdown.py    tables and numbers
    tables.py      which experiment a result is of
    commands.py    the command line
"""
