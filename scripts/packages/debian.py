"""Debian packages by dpkg-deb: the files that every package has, and the dependencies of its programs."""

import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import time
from dataclasses import dataclass, field

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Firn

Files: *
Copyright: {year} {holder}
License: Apache-2.0

License: Apache-2.0
 Licensed under the Apache License, Version 2.0; this work must not be used but in compliance with it.
 It is distributed "as is", without warranties or conditions of any kind, either express or implied.
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.
"""


@dataclass
class Package:
    name: str
    section: str
    summary: str
    description: str
    suggests: str = ""
    scripts: dict = field(default_factory=dict)  # {"postinst": text}


@dataclass
class Release:
    """What all packages of a build have in common."""
    version: str
    architecture: str
    maintainer: str
    epoch: int  # seconds: the time of everything in the packages

    @property
    def date(self):
        return time.strftime("%Y-%m-%d", time.gmtime(self.epoch))


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def version_of_release(version, os_release):
    """0.1.0~deb12: of the Debian that it was built on, older than 0.1.0 and than 0.1.0~deb13."""
    says = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    name = says.get("ID", "").strip('"')
    number = says.get("VERSION_ID", "").strip('"')
    return f"{version}~{ {'debian': 'deb'}.get(name, name)}{number}" if number else version


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def write_gzip(path, text):
    """Compressed with neither name nor time, so that the same text gives the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def add_documents(package, release, stage, changes):
    """copyright, changelog.gz, and what users can notice, for people."""
    folder = stage / "usr/share/doc" / package.name
    write(folder / "copyright", COPYRIGHT.format(year=release.date[:4],
                                                 holder="Firn contributors"))
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(release.epoch))
    write_gzip(folder / "changelog.gz", f"{package.name} ({release.version}) unstable; urgency=medium\n\n"
               "  * Built from this version; CHANGES.md.gz says what is new.\n\n"
               f" -- {release.maintainer}  {date}\n")
    write_gzip(folder / "CHANGES.md.gz", changes)


def shared_libraries(programs):
    """The packages that hold the libraries that the programs were linked with."""
    if not programs:
        return []
    with tempfile.TemporaryDirectory() as folder:  # dpkg-shlibdeps asks for a source package
        write(pathlib.Path(folder) / "debian/control", "Source: firn\n\nPackage: firn\nArchitecture: any\n")
        said = run("dpkg-shlibdeps", "-O", *(f"-e{program}" for program in programs), cwd=folder)
    return said.strip().removeprefix("shlibs:Depends=").split(", ")


def strip(stage):
    """Removes what only a linker or a debugger reads. Returns the programs."""
    programs = [path for path in (stage / "usr/bin").glob("*") if path.is_file()]
    for program in programs:
        run("strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", program)
    for library in (stage / "usr/lib").rglob("*.a"):
        run("strip", "--strip-debug", "--remove-section=.comment", "--enable-deterministic-archives", library)
    return programs


def control(package, release, depends, installed_bytes):
    fields = {
        "Package": package.name,
        "Version": release.version,
        "Architecture": release.architecture,
        "Maintainer": release.maintainer,
        "Installed-Size": str((installed_bytes + 1023) // 1024),
        "Depends": ", ".join(depends),
        "Suggests": package.suggests,
        "Section": package.section,
        "Priority": "optional",
        "Description": package.summary + "\n" + textwrap.indent(
            textwrap.fill(package.description, 76), " "),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def build(package, release, stage, changes, out):
    """Makes OUT/NAME_VERSION_ARCHITECTURE.deb of the files in `stage`, and returns its path."""
    add_documents(package, release, stage, changes)
    files = sorted(path for path in stage.rglob("*") if path.is_file())
    folder = stage / "DEBIAN"
    folder.mkdir()
    depends = shared_libraries(strip(stage))
    installed = sum(path.stat().st_size for path in files)
    write(folder / "control", control(package, release, depends, installed))
    write(folder / "md5sums", "".join(
        f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(stage)}\n" for path in files))
    conffiles = [f"/{path.relative_to(stage)}\n" for path in files if (stage / "etc") in path.parents]
    if conffiles:
        write(folder / "conffiles", "".join(conffiles))
    for name, text in package.scripts.items():
        write(folder / name, text, 0o755)
    same_modes(stage)
    made = out / f"{package.name}_{release.version}_{release.architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", stage, made,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)})
    return made


def same_modes(stage):
    """Modes do not depend on the umask of the user that builds."""
    for path in [stage, *stage.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        elif not path.is_symlink():
            path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)


def missing_programs():
    """{program: package} of those that are needed and not here."""
    needed = {"dpkg-deb": "dpkg", "dpkg-shlibdeps": "dpkg-dev", "strip": "binutils"}
    return {name: package for name, package in needed.items() if not shutil.which(name)}
