"""One class is one noun: how much a class and a function may hold."""

import ast
import collections

from house import cpp_shape
from house.tree import CPP, Finding, code_only

DATA_MAX = 25
FUNCTIONS_MAX = 35
LINES_MAX = 60
SOURCES = (".cc", ".cu")

# Classes that are over a limit, and why. This list may only shrink: a class that keeps the limits is
# to be taken out.
EXCEPTIONS = {}

# Functions that are too long, likewise.
LONG_FUNCTIONS = set()


def shapes(tree):
    """(path, what stands in it) of every C++ file."""
    for path in tree.of_kind(CPP):
        yield path, cpp_shape.read(code_only(tree.text(path)))


def local(name):
    """Whether a name belongs to one file alone."""
    return cpp_shape.UNNAMED in name.split("::")


def too_large(tree):
    """(class, finding) for each class that breaks a limit."""
    files = collections.defaultdict(dict)  # by class: where its functions are
    for path, shape in shapes(tree):
        for found in shape.classes:
            if found.data > DATA_MAX:
                yield found.name, Finding(
                    path, found.line, f"{found.name} has {found.data} data members, over {DATA_MAX}: "
                    "it holds a second noun, which wants a class of its own")
            if found.functions > FUNCTIONS_MAX:
                yield found.name, Finding(
                    path, found.line, f"{found.name} has {found.functions} member functions, over "
                    f"{FUNCTIONS_MAX}: its state cannot be kept in mind; split it by which part uses what")
        for function in shape.functions:
            if path.endswith(SOURCES) and function.owner and not local(function.owner):
                # A test may link another implementation in the place of one.
                files[function.owner, path.startswith("tests/")].setdefault(path, function.line)
    for (name, _), places in files.items():
        if len(places) > 1:
            path, line = max(places.items())
            yield name, Finding(path, line, f"{name} is implemented in {' and '.join(sorted(places))}: split "
                                            "the class, not the file, so that each has its own state")


def unneeded(tree, names):
    """A finding for each exception of this tree that is none any more."""
    here = "scripts/house/classes.py"
    if here in tree.paths:
        for name in sorted(names):
            yield Finding(here, 1, f"`{name}` keeps the limits: take it out of the exceptions")


def check_classes(tree):
    """A class keeps to one noun, and one file."""
    found = list(too_large(tree))
    for name, finding in found:
        if name not in EXCEPTIONS:
            yield finding
    yield from unneeded(tree, EXCEPTIONS.keys() - {name for name, _ in found})


def functions(tree):
    """(path, name, line, lines) of every function."""
    for path, shape in shapes(tree):
        for function in shape.functions:
            yield path, function.name, function.line, function.lines
    for path in tree.of_kind((".py",)):
        for node in ast.walk(ast.parse(tree.text(path))):
            if isinstance(node, ast.FunctionDef):
                yield path, node.name, node.lineno, node.end_lineno - node.lineno + 1


def check_functions(tree):
    """A function fits a screen."""
    long = set()
    for path, name, line, lines in functions(tree):
        if lines > LINES_MAX:
            long.add(f"{path}: {name}")
            if f"{path}: {name}" not in LONG_FUNCTIONS:
                yield Finding(path, line, f"{name} has {lines} lines, over {LINES_MAX}: name its steps")
    yield from unneeded(tree, LONG_FUNCTIONS - long)
