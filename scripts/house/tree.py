"""The project's files as the house rules read them, and what a rule finds."""

import os
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

CPP = (".cc", ".h", ".cu", ".cuh")
PROGRAM = CPP + (".py", ".proto")


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
