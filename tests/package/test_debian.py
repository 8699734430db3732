#!/usr/bin/python3
"""The packages' own files: a small package made and read again, the unit, the container file."""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from helps import PROGRAMS, ROOT, helps, options, read
from packages import contents, debian
import counted_unittest

FILES = ROOT / "scripts/packages"
RELEASE = debian.Release("1.2.3~deb12", "all", "A Person <person@packages.example>", 1_000_000_000)


class Version(unittest.TestCase):
    def test_it_names_the_release_that_it_was_built_on(self):
        for release, expected in (('ID=debian\nVERSION_ID="12"\n', "1.2~deb12"),
                                  ('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', "1.2~ubuntu24.04"),
                                  ("ID=debian\n", "1.2")):
            self.assertEqual(expected, debian.version_of_release("1.2", release))


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firn-debian-"))
        self.addCleanup(shutil.rmtree, self.folder)


@unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
class Building(Folder):
    def build(self, name="made"):
        """A package of two files."""
        stage = self.folder / name
        debian.write(stage / "usr/share/sample/text", "text\n", 0o600)
        debian.write(stage / "etc/default/sample", "OPTION=1\n")
        package = debian.Package("sample", "misc", "a sample", "Long words. " * 20,
                                 scripts={"postinst": "#!/bin/sh\n"})
        out = self.folder / f"{name}-out"
        out.mkdir()
        return debian.build(package, RELEASE, stage, "# Changes\n", out)

    def unpacked(self):
        made = self.build()
        target = self.folder / "unpacked"
        subprocess.run(["dpkg-deb", "--raw-extract", made, target], check=True)
        return target

    def test_its_fields_are_what_dpkg_reads(self):
        made = self.build()
        self.assertEqual("sample_1.2.3~deb12_all.deb", made.name)
        said = debian.run("dpkg-deb", "--show", "--showformat",
                          "${Package} ${Version} ${Architecture} ${Maintainer} ${Section}|${Depends}", made)
        self.assertEqual("sample 1.2.3~deb12 all A Person <person@packages.example> misc|", said)

    def test_every_file_has_its_sum_and_those_in_etc_are_configuration(self):
        tree = self.unpacked()
        sums = dict(line.split("  ")[::-1] for line in (tree / "DEBIAN/md5sums").read_text().splitlines())
        files = {str(path.relative_to(tree)): hashlib.md5(path.read_bytes()).hexdigest()
                 for path in tree.rglob("*") if path.is_file() and tree / "DEBIAN" not in path.parents}
        self.assertEqual(files, sums)
        self.assertIn("usr/share/doc/sample/copyright", files)
        self.assertEqual("/etc/default/sample\n", (tree / "DEBIAN/conffiles").read_text())

    def test_everybody_may_read_files_and_run_scripts(self):
        tree = self.unpacked()
        self.assertEqual(0o644, (tree / "usr/share/sample/text").stat().st_mode & 0o777)
        self.assertEqual(0o755, (tree / "DEBIAN/postinst").stat().st_mode & 0o777)

    def test_the_changelog_has_version_maintainer_and_date(self):
        text = gzip.decompress((self.unpacked() / "usr/share/doc/sample/changelog.gz").read_bytes()).decode()
        self.assertTrue(text.startswith("sample (1.2.3~deb12) unstable; urgency=medium\n"), text)
        self.assertIn("\n -- A Person <person@packages.example>  Sun, 09 Sep 2001 01:46:40 +0000\n", text)

    def test_the_same_files_make_the_same_package(self):
        self.assertEqual(self.build("one").read_bytes(), self.build("two").read_bytes())

    def test_a_file_that_was_not_installed_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, "usr/bin/nothing"):
            contents.move(self.folder, self.folder / "stage", "usr/bin/nothing")


class Unit(Folder):
    TEXT = (FILES / "firn-tracker.service").read_text()

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_has_nothing_against_it(self):
        unit = self.folder / "firn-tracker.service"
        unit.write_text(self.TEXT.replace("/usr/bin/firn-tracker", str(PROGRAMS["firn-tracker"].resolve())))
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        self.assertEqual((0, ""), (said.returncode, said.stdout + said.stderr))

    def test_it_starts_the_program_as_a_user_of_its_own_that_writes_one_folder(self):
        for line in ("Type=notify", "DynamicUser=yes", "StateDirectory=firn-tracker", "ProtectSystem=strict",
                     "NoNewPrivileges=yes", "PrivateTmp=yes", "SystemCallFilter=@system-service",
                     "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX"):
            self.assertIn(f"\n{line}\n", self.TEXT)

    def test_options_of_the_unit_and_of_its_example_exist(self):
        known = options(helps()["firn-tracker",])
        start = re.search(r"^ExecStart=.*$", self.TEXT, re.MULTILINE).group()
        named = set(re.findall(r"--[a-z-]+", start))
        self.assertEqual({"--data"}, named)
        example = (FILES / "firn-tracker.default").read_text()
        named |= {name for line in example.splitlines() if "FIRN_TRACKER_OPTIONS=" in line
                  for name in re.findall(r"--[a-z-]+", line)}
        self.assertLess({"--data", "--listen"}, named)
        self.assertLessEqual(named, known)

    def test_exit_codes_that_are_not_tried_again_are_usage_and_port(self):
        self.assertIn("\nRestartPreventExitStatus=2 3\n", self.TEXT)
        said = helps()["firn-tracker",]
        self.assertRegex(said, r"2 wrong usage,\s+3 port in use")


class UserUnit(Folder):
    TEXT = (FILES / "firn.service").read_text()

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_has_nothing_against_it(self):
        unit = self.folder / "firn.service"
        unit.write_text(self.TEXT.replace("/usr/bin/firn", str(PROGRAMS["firn"].resolve())))
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.folder))
        said = subprocess.run(["systemd-analyze", "--user", "verify", "--man=no", unit],
                              capture_output=True, text=True, env=environment)
        self.assertEqual((0, ""), (said.returncode, said.stdout + said.stderr))

    def test_it_runs_the_daemon_and_reloads_it_with_sighup(self):
        for line in ("Type=notify", "ExecStart=/usr/bin/firn daemon", "NoNewPrivileges=yes", "WantedBy=default.target",
                     "SystemCallFilter=@system-service"):
            self.assertIn(f"\n{line}\n", self.TEXT)
        self.assertRegex(self.TEXT, r"\nExecReload=.*kill -HUP")

    def test_exit_codes_that_are_not_tried_again_are_usage_and_port(self):
        self.assertIn("\nRestartPreventExitStatus=2 7\n", self.TEXT)
        said = helps()["firn",]
        self.assertRegex(said, r"(?s)2 +wrong usage.*7 +the port to listen on is in use")


class ServerUnit(Folder):
    TEXT = (FILES / "firn@.service").read_text()

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_has_nothing_against_it(self):
        unit = self.folder / "firn@root.service"
        unit.write_text(self.TEXT.replace("/usr/bin/firn", str(PROGRAMS["firn"].resolve())))
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        self.assertEqual((0, ""), (said.returncode, said.stdout + said.stderr))

    def test_it_is_the_user_s_unit_with_a_user_and_more_walls(self):
        """Lines of the one that the other lacks are the ones that it must have for itself."""
        own = set(UserUnit.TEXT.splitlines()) - set(self.TEXT.splitlines())
        self.assertEqual({"WantedBy=default.target"}, {line for line in own if not line.startswith(("Description=", "#"))})
        for line in ("User=%i", "ProtectSystem=full", "CapabilityBoundingSet=", "WantedBy=multi-user.target"):
            self.assertIn(f"\n{line}\n", self.TEXT)


class Container(unittest.TestCase):
    LINES = [line for line in (FILES / "Containerfile").read_text().replace("\\\n", " ").splitlines()
             if line and not line.startswith("#")]

    def test_each_line_is_an_instruction(self):
        known = {"ARG", "FROM", "COPY", "WORKDIR", "RUN", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"}
        self.assertLessEqual({line.split()[0] for line in self.LINES}, known)
        self.assertEqual("FROM", [line.split()[0] for line in self.LINES if not line.startswith("ARG ")][0])

    def test_the_tracker_runs_as_a_user_without_rights_on_its_usual_port(self):
        last = {line.split()[0]: line.split(maxsplit=1)[1] for line in self.LINES}
        self.assertNotIn(last["USER"], ("0", "root"))
        self.assertIn(f"--uid {last['USER']} ", " ".join(self.LINES))
        listen = next(option for option in read("firn-tracker").options if "--listen" in option.names)
        self.assertEqual(f"*:{last['EXPOSE']}", listen.default)
        self.assertIn(last["VOLUME"], last["ENTRYPOINT"])


@unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
class Scripts(unittest.TestCase):
    def test_shellcheck_has_nothing_to_say_of_them(self):
        names = ["postinst", "prerm", "postrm", "try_installed", "try_portable", "try_unit", "try_container", "chroots.sh"]
        said = subprocess.run(["shellcheck", "-x", *(FILES / name for name in names),
                               ROOT / "scripts/prove-packages", ROOT / "scripts/prove-fresh"],
                              cwd=ROOT, capture_output=True, text=True)
        self.assertEqual((0, ""), (said.returncode, said.stdout))


if __name__ == "__main__":
    counted_unittest.main()
