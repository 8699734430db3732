"""The content of a race: a file of random bytes, and the digests of what became of it."""

import hashlib
import pathlib
import random

NAME = "content.bin"


def make(folder, size, seed):
    """A file in `folder`, always the same for a seed."""
    path = pathlib.Path(folder) / NAME
    chance = random.Random(seed)
    with path.open("wb") as file:
        for at in range(0, size, 1 << 20):
            file.write(chance.randbytes(min(1 << 20, size - at)))
    return path


def digest(path):
    """The SHA-256 of a file; None: there is none."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
