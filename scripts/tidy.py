#!/usr/bin/python3
"""Checks the house rules that a compiler does not: which folder may include which, what may be
called where, the sizes of files, classes and functions, formatting, that documents and schemas name
the same fields, that documents for readers have no dates of experiments, and that links lead somewhere.

    scripts/tidy.py [--rule NAME]... [ROOT]    prints `path:line: what is wrong`, exits 1 on findings

docs/hacking.md gives the reasons. tests/house runs every rule on this tree, and on small trees
that break each of them. The rules themselves are in scripts/house.
"""

import argparse
import pathlib
import sys

from house.classes import check_classes, check_functions
from house.documents import check_documents, check_links, check_readers, check_results
from house.layers import check_arrows, check_calls
from house.layout import (CLANG_FORMAT, check_comments, check_format, check_headers, check_paths,
                          check_sizes, clang_format)
from house.tree import Tree

RULES = {
    "arrows": check_arrows,
    "calls": check_calls,
    "headers": check_headers,
    "sizes": check_sizes,
    "classes": check_classes,
    "functions": check_functions,
    "comments": check_comments,
    "paths": check_paths,
    "documents": check_documents,
    "readers": check_readers,
    "links": check_links,
    "results": check_results,
    "format": check_format,
}


# Sizes of classes and functions are advice: a class split only to keep to them is harder to read.
ADVICE = ("classes", "functions")


def findings(root, rules=tuple(RULES)):
    tree = Tree(root)
    return [finding for rule in rules for finding in RULES[rule](tree)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", action="append", choices=RULES, help="only this one")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    rules = options.rule or list(RULES)
    if "format" in rules and not clang_format():
        print(f"{CLANG_FORMAT} is not installed: formatting was not checked", file=sys.stderr)
    for finding in findings(options.root, [rule for rule in rules if rule in ADVICE]):
        print(f"{finding} (advice)")
    found = findings(options.root, [rule for rule in rules if rule not in ADVICE])
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
