"""What documents say of schemas, commits and other files, and how large results are."""

import os
import re

from house.tree import Finding

RESULT_BYTES_MAX = 64 << 10

# What dates a document for readers. An abbreviated hash has a digit and a letter; examples of bytes,
# digests and ids have more digits, or stand in blocks of code.
COMMIT_HASH = re.compile(r"(?<![\w.:/%-])(?!ed25519)(?=[a-f]*[0-9])(?=[0-9]*[a-f])"
                         r"(?:[0-9a-f]{7,12}|[0-9a-f]{40})(?![\w:-])")
# Not a span of them, as a schedule has.
CLOCK_TIME = re.compile(r"(?:(?<=\dT)|(?<![\w.:\[])(?<!\d-))(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
                        r"(?![0-9a-z:]|-\d\d:)")

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
    """Documents for readers are in the present tense: commits and times of day are for docs/lab."""
    for path in tree.of_kind((".md",)):
        if not re.match(r"docs/[^/]+\.md$|README\.md$|CONTRIBUTING\.md$|CHANGELOG\.md$", path):
            continue
        for number, line in prose(tree.text(path)):
            for what, pattern in (("commit", COMMIT_HASH), ("time of day", CLOCK_TIME)):
                match = pattern.search(line)
                if match:
                    yield Finding(path, number, f"`{match.group()}` looks like a {what}: what dates "
                                                "an experiment belongs into docs/lab")


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
