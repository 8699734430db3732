#!/usr/bin/python3
"""Checks the house rules that a compiler does not: which folder may include which, what may be
called where, formatting, sizes, that documents and schemas name the same fields, that documents for
readers have no dates of experiments, and that links lead somewhere.

    scripts/tidy.py [--rule NAME]... [ROOT]    prints `path:line: what is wrong`, exits 1 on findings

docs/hacking.md gives the reasons. tests/house runs every rule on this tree, and on small trees
that break each of them.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

LINES_MAX = 500
RESULT_BYTES_MAX = 64 << 10
CLANG_FORMAT = "clang-format-14"  # one version: they differ in what they write

CPP = (".cc", ".h", ".cu", ".cuh")
PROGRAM = CPP + (".py", ".proto")

# Which parts of the tree a part may include. A part is the longest folder here that holds the file.
MAY_INCLUDE = {
    "codec": {"codec"},
    "docs/examples": {"codec"},
    "cuda_kernels": {"cuda_kernels", "codec"},
    "proto": {"proto"},
    "proto/transport": {"proto/transport", "proto"},
    "client/content": {"client/content", "proto"},
    "client/store": {"client/store", "client/content", "proto"},
    "client/core": {"client/core", "codec", "proto"},
    "client/app": {
        "client/app", "client/core", "client/store", "client/content",
        "codec", "cuda_kernels", "proto", "proto/transport",
    },
    "tracker": {"tracker", "proto"},
    "tracker/app": {"tracker/app", "tracker", "proto", "proto/transport"},
    "tests": {
        "tests", "codec", "cuda_kernels", "proto", "proto/transport", "client/content",
        "client/store", "client/core", "client/app", "tracker", "tracker/app",
    },
}

# The tracker's edge: these files speak to the network; the rest of the folder decides and keeps.
TRACKER_EDGE = re.compile(r"tracker/(main|server|app)[^/]*$")

# The deciding parts do no I/O, have no clock, no chance and no threads of their own: they are fed
# time and randomness, so that a simulation with a seed replays them exactly.
DECIDES = re.compile(
    r"client/core/|tracker/(announce|manifest_shelf|rate_limit|registry_memory|swarm_table)[^/]*$")


class Ban(NamedTuple):
    where: object  # regex on the path: where it is banned
    but: object  # regex on the path: where it is allowed all the same, or None
    what: object  # regex on a line of code, comments and strings removed
    why: str


def ban(where, what, why, but=None):
    return Ban(re.compile(where), re.compile(but) if but else None, re.compile(what), why)


PRODUCT = r"^(codec|cuda_kernels|proto|client|tracker)/"

BANS = [
    ban(r"", r"\b(uv_\w+|SSL_\w+)|#include <(uv|openssl/ssl)\.h>",
        "sockets and TLS sessions belong to proto/transport and the programs' edges",
        but=r"^(proto/transport/|client/app/|tests/transport/)|" + TRACKER_EDGE.pattern),
    ban(DECIDES.pattern,
        r"\b(system_clock|steady_clock|high_resolution_clock)::now\b"
        r"|(?<![\w.>])(clock_gettime|gettimeofday|time|clock)\s*\(\s*(\)|NULL|nullptr|0\s*\)|&|CLOCK_)",
        "the core is told the time"),
    ban(DECIDES.pattern, r"\b(rand|srand|random_device|getrandom|RAND_bytes)\b",
        "the core draws from the generator it is given"),
    ban(DECIDES.pattern,
        r"#include <(thread|mutex|shared_mutex|condition_variable|future|fstream|filesystem|iostream"
        r"|cstdio|unistd\.h|fcntl\.h|sys/(socket|stat|types|mman)\.h|netinet/.*|netdb\.h|pthread\.h"
        r"|sqlite3\.h|uv\.h|openssl/.*)>"
        r"|\bstd::(thread|jthread|async|mutex|ifstream|ofstream|fstream)\b|\bpthread_\w+"
        r"|(?<![\w.>])::(open|read|write|close|socket|connect|send|recv|stat|unlink)\s*\(|\bfopen\s*\(",
        "the core does no I/O and has no threads"),
    ban(r"^(codec|proto|cuda_kernels)/",
        r"\b(printf|fprintf|puts|perror)\s*\(|\bstd::(cout|cerr|clog)\b"
        r"|\b(exit|_exit|quick_exit|abort)\s*\(",
        "a library neither prints nor exits", but=r"^proto/result\.h$"),
    ban(PRODUCT + r"|^tests/.*\.(cc|h)$", r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
        "sleeping is not synchronisation"),
    ban(r"\.(h|cuh)$", r"^\s*using namespace\b", "a header opens no namespace for its readers"),
    ban(PRODUCT, r"#include <(bits/.*)>", "a header of the compiler's own"),
    ban(PRODUCT + r"|^tests/", r"(?<![\w:.>])s?rand\s*\(", "unseeded chance; see codec/random.h", but=DECIDES.pattern),
]

# Folders of one machine or one person mean nothing to others.
FOREIGN_PATH = re.compile(r"(?<![\w.$}{-])/(?:home|Users|root|work|farm)/[\w.-]+")


# What dates a document for readers. An abbreviated hash has a digit and a letter; examples of bytes,
# digests and ids have more digits, or stand in blocks of code.
COMMIT_HASH = re.compile(r"(?<![\w.:/%-])(?!ed25519)(?=[a-f]*[0-9])(?=[0-9]*[a-f])"
                         r"(?:[0-9a-f]{7,12}|[0-9a-f]{40})(?![\w:-])")
CLOCK_TIME = re.compile(r"(?:(?<=\dT)|(?<![\w.:\[]))(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![0-9a-z:])")


class Finding(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Tree:
    """The project's own files: what git tracks or would, or all but build folders without git."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.paths = sorted(self._from_git() or self._from_walk())
        self._texts = {}

    def _from_git(self):
        if not (self.root / ".git").exists() or not shutil.which("git"):
            return None
        listed = subprocess.run(
            ["git", "-c", f"safe.directory={self.root}", "ls-files", "-z", "-co",
             "--exclude-standard"],
            cwd=self.root, capture_output=True, text=True)
        if listed.returncode != 0:
            return None
        return [p for p in listed.stdout.split("\0") if p and (self.root / p).is_file()]

    def _from_walk(self):
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders
                          if not f.startswith(("build", ".git", ".cache", "__pycache__"))]
            found += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return found

    def text(self, path):
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            self._texts[path] = "" if b"\0" in data else data.decode("utf-8", "replace")
        return self._texts[path]

    def of_kind(self, suffixes):
        return [p for p in self.paths if p.endswith(suffixes)]


def code_only(text):
    """C++ text with comments and the insides of literals blanked, lines kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
        re.DOTALL)

    def blank(match):
        if match.group().startswith('"') and text[:match.start()].rpartition("\n")[2].strip() == "#include":
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    return pattern.sub(blank, text)


def part_of(path):
    if TRACKER_EDGE.match(path):
        return "tracker/app"
    parts = [p for p in MAY_INCLUDE if path.startswith(p + "/")]
    return max(parts, key=len) if parts else None


def check_arrows(tree):
    """Includes follow the arrows of docs/hacking.md, and name files from the root (tests may name
    helpers in their own folder)."""
    for path in tree.of_kind(CPP):
        part = part_of(path)
        if part is None:
            yield Finding(path, 1, "stands in no folder that scripts/tidy.py knows")
            continue
        for number, line in enumerate(code_only(tree.text(path)).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1)
            generated = target.endswith(".pb.h")
            if part == "tests" and ((tree.root / path).parent / target).is_file():
                continue  # a test's helper, beside it
            if not generated and not (tree.root / target).is_file():
                yield Finding(path, number, f'"{target}" is no file named from the root')
                continue
            if part_of(target) not in MAY_INCLUDE[part]:
                yield Finding(path, number, f"{part} must not include {target}")
            elif generated and part not in ("proto", "tests"):
                yield Finding(path, number, "messages are parsed in proto/ alone: see messages.h")


def check_calls(tree):
    """Calls that a folder must not make."""
    for path in tree.of_kind(CPP):
        bans = [b for b in BANS
                if b.where.search(path) and not (b.but and b.but.search(path))]
        for number, line in enumerate(code_only(tree.text(path)).splitlines(), 1):
            for b in bans:
                match = b.what.search(line)
                if match:
                    yield Finding(path, number, f"`{match.group().strip()}`: {b.why}")


def check_headers(tree):
    """A header is read once, and first says what it is for."""
    for path in tree.of_kind((".h", ".cuh")):
        text = tree.text(path)
        if "\n#pragma once\n" not in "\n" + text:
            yield Finding(path, 1, "has no #pragma once")
        if not text.startswith("//"):
            yield Finding(path, 1, "does not start with a comment that says what it is")


def check_sizes(tree):
    """Past 500 lines a file holds a second noun."""
    for path in tree.of_kind(PROGRAM):
        lines = tree.text(path).count("\n")
        if lines > LINES_MAX:
            yield Finding(path, lines, f"has {lines} lines, over {LINES_MAX}: split it")


def check_paths(tree):
    """No file names a folder of somebody's machine."""
    for path in tree.paths:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            match = FOREIGN_PATH.search(line)
            if match:
                yield Finding(path, number, f"`{match.group()}` is a folder of one machine")


def proto_fields(text):
    """{message name: [field names]}, enums left out, of a .proto file."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\benum\s+\w+\s*\{[^}]*\}", "", text)
    messages, stack = {}, []
    for match in re.finditer(
            r"\b(message|oneof)\s+(\w+)\s*\{|(?:repeated\s+)?[\w.]+\s+(\w+)\s*=\s*\d+\s*;|\}", text):
        if match.group(1):
            name = match.group(2) if match.group(1) == "message" else stack[-1]
            stack.append(name)
            messages.setdefault(name, [])
        elif match.group(3):
            if stack:
                messages[stack[-1]].append(match.group(3))
        elif stack:
            stack.pop()
    return messages


DESCRIBED_IN = {
    "proto/peer.proto": "docs/protocol.md",
    "proto/tracker.proto": "docs/protocol.md",
    "proto/manifest.proto": "docs/formats.md",
}


def check_documents(tree):
    """Every message and field is described; no `Message.field` is described that does not exist."""
    known = {}
    for schema in DESCRIBED_IN:
        if schema in tree.paths:
            known.update(proto_fields(tree.text(schema)))
    for schema, document in DESCRIBED_IN.items():
        if schema not in tree.paths:
            continue
        if document not in tree.paths:
            yield Finding(document, 1, f"is missing; it describes {schema}")
            continue
        words = set(re.findall(r"\w+", tree.text(document)))
        for message, fields in proto_fields(tree.text(schema)).items():
            for name in [message, *fields]:
                if name not in words:
                    yield Finding(document, 1, f"does not mention {message}'s `{name}`"
                                  if name != message else f"does not mention {message}")
    for document in sorted(set(DESCRIBED_IN.values()) & set(tree.paths)):
        for number, line in enumerate(tree.text(document).splitlines(), 1):
            for message, field in re.findall(r"`(\w+)\.([a-z]\w*)`", line):
                if message in known and field not in known[message]:
                    yield Finding(document, number, f"`{message}.{field}` is no field")


def prose(text):
    """(number, line) outside of blocks of code, and of tables that a command writes."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def check_readers(tree):
    """Documents for readers are in the present tense: commits and times of day are for docs/notes."""
    for path in tree.of_kind((".md",)):
        if not re.match(r"docs/[^/]+\.md$|README\.md$|CONTRIBUTING\.md$|CHANGELOG\.md$", path):
            continue
        for number, line in prose(tree.text(path)):
            for what, pattern in (("commit", COMMIT_HASH), ("time of day", CLOCK_TIME)):
                match = pattern.search(line)
                if match:
                    yield Finding(path, number, f"`{match.group()}` looks like a {what}: what dates "
                                                "an experiment belongs into docs/notes")


def anchors(text):
    """The names by which GitHub links to a document's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def check_links(tree):
    """A document's links lead to files and headings that exist."""
    for path in tree.of_kind((".md",)):
        text = tree.text(path)
        for match in re.finditer(r"\]\(([^)\s]+)\)", text):
            file, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", file):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            line = text.count("\n", 0, match.start()) + 1
            if not (tree.root / target).exists():
                yield Finding(path, line, f"`{match.group(1)}` leads nowhere")
            elif anchor and anchor not in anchors(tree.text(target)):
                yield Finding(path, line, f"`{match.group(1)}`: {target} has no such heading")


def check_results(tree):
    """docs/results holds what tables and plots are made from; raw runs would fill the repository."""
    for path in tree.paths:
        if path.startswith("docs/results/"):
            size = (tree.root / path).stat().st_size
            if size > RESULT_BYTES_MAX:
                yield Finding(path, 1, f"has {size} bytes, over {RESULT_BYTES_MAX}: keep what tables "
                                       "and plots are made from (docs/results/README.md says how)")


def clang_format():
    """The formatter this project is formatted with, or None."""
    return shutil.which(CLANG_FORMAT)


def check_format(tree):
    """clang-format would change nothing."""
    files = tree.of_kind(CPP)
    if not files or not clang_format():
        return
    run = subprocess.run([clang_format(), "--dry-run", "--style=file", *files], cwd=tree.root,
                         capture_output=True, text=True)
    seen = set()
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:warning|error)", run.stderr, re.MULTILINE):
        if path not in seen:
            seen.add(path)
            yield Finding(path, int(line), f"is not as {CLANG_FORMAT} -i would leave it")
    if run.returncode != 0 and not seen:
        yield Finding(".clang-format", 1, run.stderr.strip() or "clang-format failed")


RULES = {
    "arrows": check_arrows,
    "calls": check_calls,
    "headers": check_headers,
    "sizes": check_sizes,
    "paths": check_paths,
    "documents": check_documents,
    "readers": check_readers,
    "links": check_links,
    "results": check_results,
    "format": check_format,
}


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
    found = findings(options.root, rules)
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
