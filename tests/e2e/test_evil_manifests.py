#!/usr/bin/python3
"""Manifests with right checksums and evil contents, as their makers would hand them out."""

import harness
from harness import LISTEN
from pypeer.manifest import Manifest, write_manifest

LONG = "long/" * 820  # over 4096 bytes


class EvilManifests(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        source = self.tree({"a": 100, "b/c": 700})
        self.good = self.create(source, "--generation-size", 4, "--block-size", 256).read_bytes()

    def info(self, change):
        info = Manifest(self.good).info
        change(info)
        return info

    def assert_refused_everywhere(self, info):
        evil = self.folder / "evil.firn"
        evil.write_bytes(write_manifest(info))
        self.assert_refused(self.run_firn("info", evil), harness.USAGE, "evil.firn")
        self.assert_refused(
            self.run_firn("get", evil, "-o", self.folder / "get", *LISTEN), harness.USAGE)
        self.assertFalse((self.folder / "get").exists())

    def test_the_unchanged_one_is_taken(self):
        good = self.folder / "good.firn"
        good.write_bytes(write_manifest(self.info(lambda info: None)))
        self.assertEqual(0, self.run_firn("info", good)[0])

    def test_paths_that_lead_out_or_are_reserved(self):
        for path in ("/etc/passwd", "../a", "x/../../a", "./a", "x//a", "a/", "", ".firn/lock",
                     "CON", "x/nul.txt", "a\\b", "c:a", "x\ny", "dot.", "space ", LONG, "n" * 256,
                     "d/" * 128 + "f"):
            with self.subTest(path=path[:40]):
                def change(info, path=path):
                    info.files[0].path = path
                self.assert_refused_everywhere(self.info(change))

    def test_names_that_lead_out_or_are_reserved(self):
        for name in ("..", ".", "", "a/b", "/", ".firn", "AUX", "a\0b"):
            with self.subTest(name=name):
                def change(info, name=name):
                    info.name = name
                self.assert_refused_everywhere(self.info(change))

    def test_a_path_that_stands_twice(self):
        def change(info):
            info.files[1].path = info.files[0].path
        self.assert_refused_everywhere(self.info(change))

    def test_a_path_below_a_file(self):
        def change(info):
            info.files[1].path = info.files[0].path + "/below"
        self.assert_refused_everywhere(self.info(change))

    def test_sizes_that_do_not_add_up(self):
        def change(info):
            info.files[0].bytes += 1
        self.assert_refused_everywhere(self.info(change))

    def test_sizes_that_add_up_only_modulo_2_to_64(self):
        def change(info):
            info.files[0].bytes = 2**64 - 1
            info.files[1].bytes = 801
        self.assert_refused_everywhere(self.info(change))

    def test_shapes_out_of_bounds(self):
        for n, k in ((0, 256), (4, 0), (4097, 256), (4, (1 << 20) + 1), (4096, 1 << 20)):
            with self.subTest(n=n, k=k):
                def change(info, n=n, k=k):
                    info.generation_size, info.block_bytes = n, k
                self.assert_refused_everywhere(self.info(change))

    def test_digests_that_are_missing_or_too_many(self):
        for digests in (b"", b"x" * 31, b"x" * 64):
            with self.subTest(bytes=len(digests)):
                def change(info, digests=digests):
                    info.generation_digests = digests
                self.assert_refused_everywhere(self.info(change))

    def test_modes_beyond_permissions(self):
        def change(info):
            info.files[0].mode = 0o4755
        self.assert_refused_everywhere(self.info(change))

    def test_folders_with_bad_modes_or_without_files(self):
        for path, mode in (("", 0o4755), ("../..", 0o700), ("no such folder", 0o700)):
            with self.subTest(path=path):
                def change(info, path=path, mode=mode):
                    info.folders.add(path=path, mode=mode)
                self.assert_refused_everywhere(self.info(change))

    def test_something_that_is_no_info(self):
        class Raw:
            def SerializeToString(self):
                return b"\xff" * 40

        self.assert_refused_everywhere(Raw())

    def test_a_symbolic_link_in_the_output_folder_is_not_followed_out_of_it(self):
        source = self.tree({"inner/file": 5000}, "linked")
        manifest = self.create(source)
        seed = self.firn("seed", "seed", manifest, source.parent, *LISTEN)
        outside = self.folder / "outside"
        outside.mkdir()
        (self.folder / "get" / "linked").mkdir(parents=True)
        (self.folder / "get" / "linked" / "inner").symlink_to(outside)
        get = self.get(manifest, "get", "--repair", "--peer", seed.endpoint())
        self.assertEqual(harness.DISK, get.wait_exit(), get.story())
        self.assertEqual([], list(outside.iterdir()))


if __name__ == "__main__":
    harness.main()
