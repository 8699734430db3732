#!/usr/bin/python3
"""cuda_kernels/chips_present.sh, which decides what device code a build holds, with an nvidia-smi
that only pretends."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counted_unittest


class ChipsPresent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def chips(self, nvidia_smi, *traces):
        """What the script says where nvidia-smi runs as the shell text `nvidia_smi` does, and the
        files `traces` are there."""
        program = self.root / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{nvidia_smi}\n")
        program.chmod(0o755)
        for trace in traces:
            path = self.root / trace
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return subprocess.run(
            [ROOT / "cuda_kernels/chips_present.sh", self.root], check=True, capture_output=True,
            text=True, env={**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}"}).stdout

    def test_each_kind_of_device_is_named_once(self):
        self.assertEqual("80 90\n", self.chips("printf '9.0\\n8.0\\n9.0\\n'"))

    def test_a_machine_without_a_device_has_none(self):
        self.assertEqual("none\n", self.chips("exit 127"))
        self.assertEqual("none\n", self.chips("echo 'NVIDIA-SMI has failed'; exit 9"))

    def test_a_device_that_nvidia_smi_does_not_name_may_be_any(self):
        self.assertEqual("all\n", self.chips("exit 127", "dev/nvidia0"))

    def test_a_device_that_only_the_driver_shows_may_be_any(self):
        self.assertEqual("all\n", self.chips("exit 127", "proc/driver/nvidia/gpus/0000:01:00.0"))


if __name__ == "__main__":
    counted_unittest.main()
