#!/usr/bin/env python3
"""The libraries of single instruction sets share no code with the rest of the program.

usage: kernel_symbols_test.py NM LIBRARY...

A function that is global or weak in such a library could be called where the CPU lacks the
instruction set: the linker keeps one copy of an inline function, from any of its users. Each library
may give out its table of kernels, which is data, and nothing else.
"""
import subprocess
import sys

CODE_FOR_OTHERS = "TWViu"  # nm's letters: global or weak code, weak objects, unique globals
# How compilers name the handler of exceptions: data, the same whatever the flags.
HARMLESS = ("DW.ref.",)


def main():
    nm, libraries = sys.argv[1], sys.argv[2:]
    failed = False
    for library in libraries:
        listing = subprocess.run([nm, "-C", library], check=True, capture_output=True, text=True)
        symbols = [line[17:].split(" ", 1) for line in listing.stdout.splitlines() if line[16:17] == " "]
        tables = [name for letter, name in symbols if letter in "DR" and "Kernels" in name]
        shared = [name for letter, name in symbols
                  if letter in CODE_FOR_OTHERS and not name.startswith(HARMLESS)]
        if len(tables) != 1:
            print(f"{library}: expected one table of kernels, found {tables}")
            failed = True
        for name in shared:
            print(f"{library}: gives out {name}")
            failed = True
    sys.exit(1 if failed or not libraries else 0)


if __name__ == "__main__":
    main()
