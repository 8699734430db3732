#!/usr/bin/python3
"""The portable archive: what is in it, what it refuses to claim, and that its programs run from an empty folder."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from unittest import mock

from helps import PROGRAMS, ROOT
from packages import portable
import counted_unittest

EPOCH = 1_000_000_000


@unittest.skipUnless(os.environ.get("FIRN_TEST_HUGE"), "takes half a minute of processor time; set FIRN_TEST_HUGE=1")
@unittest.skipIf(portable.missing_programs(), f"not installed: {', '.join(portable.missing_programs())}")
class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="firn-portable-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.top = cls.folder / "firn-1.2.3-made-linux"
        with mock.patch.object(portable, "GLIBC_MAX", "99.0"):  # tests run on later releases too
            portable.fill(cls.top, PROGRAMS.values(), "1.2.3")
        cls.made = portable.pack(cls.top, cls.folder, EPOCH)

    def test_it_runs_from_an_empty_folder_with_no_library_of_the_host_but_glibc(self):
        said = subprocess.run([ROOT / "scripts/packages/try_portable", self.made], capture_output=True, text=True)
        self.assertEqual(0, said.returncode, said.stdout + said.stderr)

    def test_each_file_has_its_sum_and_belongs_to_root(self):
        with tarfile.open(self.made) as tar:
            files = {entry.name.split("/", 1)[1]: hashlib.sha256(tar.extractfile(entry).read()).hexdigest()
                     for entry in tar.getmembers() if entry.isfile()}
            for entry in tar.getmembers():
                self.assertEqual((0, 0, EPOCH), (entry.uid, entry.gid, entry.mtime))
        del files["SHA256SUMS"]
        sums = dict(line.split("  ")[::-1] for line in (self.top / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(files, sums)

    def test_the_same_files_give_the_same_bytes(self):
        again = self.folder / "again"
        again.mkdir()
        self.assertEqual(self.made.read_bytes(), portable.pack(self.top, again, EPOCH).read_bytes())

    def test_glibc_is_the_host_s_own_and_every_other_library_has_a_licence(self):
        names = {path.name for path in (self.top / "lib").iterdir()}
        self.assertIn("libstdc++.so.6", names)
        self.assertFalse({"libc.so.6", "libm.so.6", "libresolv.so.2"} & names)
        packages = {portable.owner(path) for path in portable.libraries(PROGRAMS.values()).values()}
        self.assertLess(packages, {path.stem for path in (self.top / "licences").glob("*.txt")})

    def test_a_glibc_that_is_older_than_the_symbols_is_not_claimed(self):
        with mock.patch.object(portable, "GLIBC_MAX", "2.4"), self.assertRaisesRegex(portable.Unfit, "Debian 12"):
            portable.fill(self.folder / "old", PROGRAMS.values(), "1.2.3")


class Needs(unittest.TestCase):
    def needed(self, *versions):
        said = "".join(f"  0x0010:   Name: {version}  Flags: none  Version: 2\n" for version in versions)
        with mock.patch.object(portable.debian, "run", return_value=said):
            return portable.glibc_needed([pathlib.Path("program")])

    def test_the_latest_version_counts_by_number(self):
        self.assertEqual("2.34", self.needed("GLIBC_2.4", "GLIBC_2.34", "GLIBC_2.3.4", "GLIBCXX_3.4.30"))

    def test_what_the_loader_must_know_counts_too(self):
        self.assertEqual("2.36", self.needed("GLIBC_2.34", "GLIBC_ABI_DT_RELR"))

    def test_what_no_release_promises_is_refused(self):
        for name in ("GLIBC_PRIVATE", "GLIBC_ABI_UNKNOWN"):
            with self.assertRaisesRegex(portable.Unfit, name):
                self.needed(name)

    def test_libraries_of_glibc_are_known_by_their_names(self):
        for name in ("libc.so.6", "libm.so.6", "libresolv.so.2", "ld-linux-aarch64.so.1"):
            self.assertTrue(portable.GLIBC_OWN.match(name), name)
        for name in ("libcrypto.so.3", "libcurl.so.4", "libmimalloc.so.2"):
            self.assertFalse(portable.GLIBC_OWN.match(name), name)


if __name__ == "__main__":
    counted_unittest.main()
