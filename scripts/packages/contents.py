"""Which packages there are, and which files each of them gets."""

import pathlib
import shutil

from packages import commands, completions, debian, man_pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

DEAL = ("Firn distributes files over a peer-to-peer swarm with random linear network coding: a peer passes "
        "on mixtures of the blocks that it holds while it still downloads, so that no block is rare.")
PACKAGES = [
    debian.Package(
        "firn", "net", "peer-to-peer distribution of files with network coding",
        DEAL + " This package has the peer: it shares, gets, seeds and verifies files and folders.",
        suggests="firn-tracker"),
    debian.Package(
        "firn-tracker", "net", "meeting place of Firn's peers",
        DEAL + " This package has the tracker, which tells the peers of each content about one another, "
        "and a systemd unit that runs it as a user of its own.",
        suggests="firn",
        scripts={name: (HERE / name).read_text() for name in ("postinst", "prerm", "postrm")}),
    debian.Package(
        "libfirn-codec-dev", "libdevel", "random linear network coding over GF(2^8), static library",
        "Encoder, recoder and decoder of Firn, with kernels for AVX-512, GFNI, AVX2, SSSE3 and NEON of which "
        "the best is chosen at run time. A static library without dependencies, its headers, and a file "
        "for pkg-config.", suggests="pkgconf"),
]


def programs(root):
    """{name: path} of the programs installed below `root`."""
    return {name: root / "usr/bin" / name for name in ("firn", "firn-tracker")}


def add_pages(program, name, stage, version, date):
    """Man pages and completions of a program, made from its own --help."""
    command = commands.read_program(program, name)
    for file, text in man_pages.pages(command, version, date).items():
        debian.write_gzip(stage / "usr/share/man/man1" / f"{file}.gz", text)
    for path, text in completions.scripts(command).items():
        debian.write(stage / "usr/share" / path, text)


def move(installed, stage, pattern):
    """Moves what matches from what Meson installed; something must."""
    found = list(installed.glob(pattern))
    if not found:
        raise FileNotFoundError(f"Meson installed nothing that matches {pattern}")
    for path in found:
        target = stage / path.relative_to(installed)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)


def fill(package, installed, stage, version, date):
    """Gives the folder `stage` the package's own files, from those that Meson installed."""
    if package.name == "libfirn-codec-dev":
        for pattern in ("usr/lib/**/libfirn_codec.a", "usr/lib/**/firn-codec.pc", "usr/include/firn"):
            move(installed, stage, pattern)
        documents = stage / "usr/share/doc" / package.name
        debian.write_gzip(documents / "codec.md.gz", (ROOT / "docs/codec.md").read_text())
        debian.write(documents / "examples/relay.cc", (ROOT / "docs/examples/relay.cc").read_text())
        return
    add_pages(programs(installed)[package.name], package.name, stage, version, date)
    move(installed, stage, f"usr/bin/{package.name}")
    if package.name == "firn":
        debian.write(stage / "usr/lib/systemd/user/firn.service", (HERE / "firn.service").read_text())
        debian.write(stage / "usr/lib/systemd/system/firn@.service", (HERE / "firn@.service").read_text())
        debian.write(stage / "usr/share/doc/firn/examples/config.toml", (ROOT / "docs/config.example.toml").read_text())
    if package.name == "firn-tracker":
        debian.write(stage / "usr/lib/systemd/system/firn-tracker.service",
                     (HERE / "firn-tracker.service").read_text())
        debian.write(stage / "etc/default/firn-tracker", (HERE / "firn-tracker.default").read_text())
