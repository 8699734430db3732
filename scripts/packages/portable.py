"""The portable archive: both programs with the libraries that they need, for any Linux with a glibc that is
new enough. NEEDS in it names the machine and the glibc, for people and for `firn push --install`."""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

from packages import debian

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLIBC_MAX = "2.36"  # what the archive is said to run on
# The libraries of glibc itself, which fit the kernel and one another: the host's own are used.
GLIBC_OWN = re.compile(r"(ld-linux.*|lib(anl|c|dl|m|mvec|nsl|nss_\w+|pthread|resolv|rt|thread_db|util))\.so\.\d+$")
# What the programs are made of besides: headers that leave code in them.
BUILT_IN = ["libcli11-dev", "libtomlplusplus-dev", "nlohmann-json3-dev", "libspdlog-dev", "libfmt-dev"]
# Not a number: what the loader must know for the short form of relocations, and the glibc that has it.
ABI_GLIBC = {"ABI_DT_RELR": "2.36"}


class Unfit(Exception):
    """What is there would not make an archive that runs where it says."""


def libraries(programs):
    """{name: path} of the libraries that the programs load, without glibc's own."""
    found = {}
    for program in programs:
        for line in debian.run("ldd", program).splitlines():
            name, _, path = line.strip().partition(" => ")
            if path.startswith("not found"):
                raise Unfit(f"{program} needs {name}, which is not on this machine")
            if path and not GLIBC_OWN.match(name):
                found[name] = pathlib.Path(path.split(" (")[0])
    return found


def number(version):
    return tuple(map(int, version.split(".")))


def glibc_needed(files):
    """The oldest glibc that has all symbols and loader features that the files ask for."""
    needed = "2.0"
    for file in files:
        said = debian.run("readelf", "--wide", "--version-info", file)
        for version in re.findall(r"Name: GLIBC_(\S+)", said):
            version = ABI_GLIBC.get(version, version)
            if not re.fullmatch(r"[\d.]+", version):
                raise Unfit(f"{file.name} needs GLIBC_{version}, which no release of glibc promises to have")
            needed = max(needed, version, key=number)
    return needed


def owner(library):
    """The Debian package that a library is from."""
    real = library.resolve()
    for path in (library, real, pathlib.Path(str(real).removeprefix("/usr"))):
        try:
            return debian.run("dpkg", "-S", path, stderr=subprocess.DEVNULL).split(":")[0]
        except subprocess.CalledProcessError:
            continue
    raise Unfit(f"no package has {library}: its licence is unknown")


def add_licences(found, folder):
    """The copyright file of each library's package, and each licence that one of them names by path."""
    common = set()
    packages = {owner(path) for path in found.values()}
    for package in sorted(packages | {name for name in BUILT_IN if pathlib.Path("/usr/share/doc", name).exists()}):
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_text(errors="replace")
        debian.write(folder / f"{package}.txt", text)
        common |= set(re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text))
    for name in sorted(common):
        text = pathlib.Path("/usr/share/common-licenses", name)
        if text.exists():
            debian.write(folder / f"common-licenses/{name}", text.read_text())


def sums(top):
    """The lines of SHA256SUMS."""
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(top)}\n"
                   for path in sorted(top.rglob("*")) if path.is_file())


def fill(top, programs, version):
    """Makes the folder `top`: bin, lib, licences, NEEDS and SHA256SUMS."""
    found = libraries(programs)
    for program in programs:
        target = top / "bin" / program.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, target)
        debian.run("strip", "--strip-unneeded", target)
        # DT_RPATH, as it holds for the libraries' own libraries too and before LD_LIBRARY_PATH.
        debian.run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", target)
    for name, path in found.items():
        target = top / "lib" / name
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
        if re.search(r"\((RPATH|RUNPATH)\)", debian.run("readelf", "-d", target)):
            raise Unfit(f"{path} looks for its libraries at places of its own")
    needed = glibc_needed([*(top / "bin").iterdir(), *(top / "lib").iterdir()])
    if number(needed) > number(GLIBC_MAX):
        raise Unfit(f"the archive would need glibc {needed}, not {GLIBC_MAX}: make it on Debian 12")
    add_licences(found, top / "licences")
    debian.write(top / "LICENSE", (ROOT / "LICENSE").read_text())
    debian.write(top / "NEEDS", f"firn {version}\nmachine {os.uname().machine}\nglibc {needed}\n")
    debian.same_modes(top)
    debian.write(top / "SHA256SUMS", sums(top))


def pack(top, out, epoch):
    """OUT/NAME.tar.gz of the folder; the same bytes for the same files."""
    made = out / f"{top.name}.tar.gz"

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = epoch
        return entry

    with open(made, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.add(top, top.name, recursive=False, filter=plain)
        for path in sorted(top.rglob("*")):
            tar.add(path, path.relative_to(top.parent), recursive=False, filter=plain)
    return made


def build(programs, version, epoch, scratch, out):
    """Makes OUT/firn-VERSION-MACHINE-linux.tar.gz and returns its path."""
    top = scratch / f"firn-{version}-{os.uname().machine}-linux"
    fill(top, programs, version)
    return pack(top, out, epoch)


def missing_programs():
    """{program: package} of those that are needed and not here."""
    needed = {"ldd": "libc-bin", "patchelf": "patchelf", "readelf": "binutils", "strip": "binutils"}
    return {name: package for name, package in needed.items() if not shutil.which(name)}
