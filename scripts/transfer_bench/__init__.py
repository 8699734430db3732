"""Whole programs that move one file on one machine, and where their processor time goes: what
scripts/bench-transfer runs.

children.py   processes with their use of processors and memory
firn.py       one seed to one downloader by Firn
rivals.py     the same by aria2c and by libtorrent, and a copy through a pipe
chain.py      seed -> relay -> downloader, each with its profile
floors.py     what a stage of such a profile costs at least
report.py     the tables
"""
