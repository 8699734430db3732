#!/usr/bin/python3
"""--codec and --threads: the CPU alone, whatever there is, and a GPU where there may be none."""

import json
import shutil

import harness
from harness import LISTEN, MIB

NO_DEVICE = 9  # exit code


class Codec(harness.SwarmTest):
    def has_gpu(self):
        status, output, errors = self.run_firn("doctor", "--json")
        self.assertEqual(0, status, errors)
        return bool(json.loads(output)["gpus"])

    def transfer(self, *options):
        source = self.file(6 * MIB)
        seed = self.share(source, "--dense", "--generation-size", 64, "--block-size", "16K",
                          *options)
        get = self.get(seed.link(), "get", "--peer", seed.endpoint(), *options)
        complete = self.assert_downloaded(source, get)
        return seed, get, complete

    def test_the_cpu_alone_with_one_thread(self):
        seed, get, complete = self.transfer("--codec", "cpu", "--threads", 1)
        for program in (seed, get):
            self.assertNotIn("codec:", program.output("stderr"))
        stages = complete["stages"]
        for stage in ("core", "messages", "decode", "hash", "disk_write", "tls", "network"):
            self.assertGreater(stages[stage], 0, stage)
        self.assertEqual(0, stages["encode"])

    def test_auto_says_once_who_codes_where_there_is_a_gpu_and_else_with_v_alone(self):
        for more in ([], ["-v"]):
            expected = 1 if more or self.has_gpu() else 0
            for program in self.transfer("--codec", "auto", *more)[:2]:
                said = [line for line in program.lines["stderr"] if line.startswith("codec:")]
                self.assertEqual(expected, len(said), program.story())
                self.assertTrue(all("CPU" in line for line in said))
                program.kill()
            shutil.rmtree(self.folder / "get")

    def test_gpu_works_or_says_that_there_is_none(self):
        if self.has_gpu():
            complete = self.transfer("--codec", "gpu")[2]
            self.assertGreater(complete["codec"]["decoded_by_devices"], 0)
            return
        source = self.file(100)
        for command in (["share", source], ["get", self.create(source), "-o", self.folder / "get"],
                        ["seed", self.create(source), source.parent]):
            with self.subTest(command=command[0]):
                result = self.run_firn(*command, "--codec", "gpu", *LISTEN)
                self.assert_refused(result, NO_DEVICE, "GPU", "--codec auto")
                self.assertIn("no_device", result[1])

    def test_other_names_are_wrong_usage(self):
        for options in (["--codec", "fpga"], ["--threads", 0], ["--threads", "many"]):
            with self.subTest(options=options):
                self.assert_refused(self.run_firn("share", self.file(1), *options),
                                    harness.USAGE, options[0])


if __name__ == "__main__":
    harness.main()
