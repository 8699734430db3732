#!/usr/bin/python3
"""The tables of the documents, made from docs/results. A document names the command that prints a
table, and the table follows:

    <!-- table: scripts/swarm table docs/results/swarm-sim.json -->
    ...
    <!-- end of table -->

    scripts/tables.py            writes every table anew
    scripts/tables.py --check    says which differ, and exits 1 if one does (a test does this)
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- table: (scripts/.+?) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)


def printed(command):
    done = subprocess.run([sys.executable, *shlex.split(command)], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout.strip() + "\n"


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text):
    """[(command, table)] of a document."""
    return [(command, table) for _, command, table, _ in BLOCK.findall(text)]


def renewed(text):
    return BLOCK.sub(lambda found: f"{found[1]}\n{printed(found[2])}\n{found[4]}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    differ = 0
    for path in documents():
        text = path.read_text(encoding="utf-8")
        new = renewed(text)
        if new != text:
            differ += 1
            print(f"{path.relative_to(ROOT)}: {'differs from' if check else 'written from'} results")
            if not check:
                path.write_text(new, encoding="utf-8")
    return 1 if check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
