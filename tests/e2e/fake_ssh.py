"""In place of ssh: runs here what ssh would run on a host, in a home folder of the host's name."""

from harness import BUILD

SCRIPT = """#!/bin/sh
for word; do host=$last; last=$word; done
mkdir -p "{homes}/$host"
cd "{homes}/$host"
export HOME="$PWD" PATH={programs}:/usr/bin:/bin
exec {before} sh -c "$last"
"""


def make(path, homes, before=""):
    """The program `path`. `before`: words that run the rest as a command."""
    path.write_text(SCRIPT.format(homes=homes, programs=(BUILD / "client").resolve(), before=before))
    path.chmod(0o755)
    return path
