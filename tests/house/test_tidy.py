#!/usr/bin/python3
"""This tree follows the house rules, and scripts/tidy.py would notice if it did not."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest
import tidy

HEADER = "// What it is.\n#pragma once\n"


class ThisTree(unittest.TestCase):
    """One case for each rule."""

    def follows(self, rule):
        found = tidy.findings(ROOT, [rule])
        self.assertEqual([], [str(finding) for finding in found])

    def test_sizes_of_classes_and_functions_are_advice(self):
        self.assertEqual(("classes", "functions"), tidy.ADVICE)
        with mock.patch.object(tidy, "findings", lambda _, rules: ["too long"] if "functions" in rules else []), \
                mock.patch.object(sys, "argv", ["tidy", "--rule", "functions", "--rule", "headers"]), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(0, tidy.main())
        self.assertEqual("too long (advice)\n", said.getvalue())

    def test_includes_follow_the_arrows(self):
        self.follows("arrows")

    def test_nothing_is_called_where_it_must_not_be(self):
        self.follows("calls")

    def test_headers_say_what_they_are(self):
        self.follows("headers")

    def test_no_file_is_too_long(self):
        self.follows("sizes")

    def test_comments_are_narrow(self):
        self.follows("comments")

    def test_no_file_names_a_folder_of_one_machine(self):
        self.follows("paths")

    @unittest.skipUnless((ROOT / "docs/protocol.md").exists() and (ROOT / "docs/formats.md").exists(),
                         "docs/protocol.md or docs/formats.md is not written yet")
    def test_documents_and_schemas_name_the_same_fields(self):
        self.follows("documents")

    def test_documents_for_readers_date_nothing(self):
        self.follows("readers")

    def test_links_lead_somewhere(self):
        self.follows("links")

    def test_results_are_small(self):
        self.follows("results")

    @unittest.skipUnless(tidy.clang_format(), f"{tidy.CLANG_FORMAT} is not installed")
    def test_formatting_is_clang_formats(self):
        self.follows("format")


class SmallTree(unittest.TestCase):
    def findings(self, rule, files):
        """What `rule` finds in a tree of {path: text}, as "path:line" strings."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return [f"{f.path}:{f.line}" for f in tidy.findings(folder, [rule])]

    def assert_bad(self, rule, path, text, line=1, beside=None):
        self.assertEqual([f"{path}:{line}"], self.findings(rule, {path: text, **(beside or {})}))

    def assert_good(self, rule, path, text, beside=None):
        self.assertEqual([], self.findings(rule, {path: text, **(beside or {})}))


def members(count, text):
    return "".join("  " + text.format(i) + "\n" for i in range(count))


class Classes(SmallTree):
    HEAD = "namespace firn {\nclass Box : public Base<int> {\n public:\n"
    CONSTANTS = "  static constexpr int kMost = 3;\n  using Name = std::string;\n  enum class Kind { kA, kB };\n"

    def box(self, inside):
        return f"{HEADER}{self.HEAD}{self.CONSTANTS}{inside}}};\n}}  // namespace firn\n"

    def test_data_members_are_counted(self):
        for text in ("int a{} = 0;", "std::map<int, int> a{};", "std::vector<int> a{}{{1, 2}};",
                     "std::function<void(int, int)> a{};", "int a{}[3] = {{1, 2, 3}};"):
            with self.subTest(text):
                self.assert_good("classes", "codec/box.h", self.box(members(25, text)))
                self.assert_bad("classes", "codec/box.h", self.box(members(26, text)), 4)

    def test_several_names_of_one_type_are_several_members(self):
        self.assert_bad("classes", "codec/box.h", self.box(members(13, "int a{0}, b{0} = 0;")), 4)

    def test_member_functions_are_counted(self):
        for text in ("void f{}(int a, int b = 3);", "int f{}() const {{ return 1; }}",
                     "template <class T>\n  T f{}(std::map<T, int> a = {{}}) const;",
                     "explicit Box(A{} a) : a_{{a}}, b_(a) {{ go(); }}", "bool operator==(const B{}& b) const;"):
            with self.subTest(text):
                self.assert_good("classes", "codec/box.h", self.box(members(35, text)))
                self.assert_bad("classes", "codec/box.h", self.box(members(36, text)), 4)

    def test_what_is_deleted_or_local_to_a_function_does_not_count(self):
        self.assert_good("classes", "codec/box.h", self.box(
            members(36, "Box(const A{}&) = delete;") + "  void f() {\n" + members(30, "int a{};") + "  }\n"))

    def test_a_class_within_has_members_of_its_own(self):
        within = "  struct Part {\n" + members(20, "int a{};") + "  };\n"
        self.assert_good("classes", "codec/box.h", self.box(within + members(20, "int b{};")))

    def test_a_class_lives_in_one_file(self):
        one = "namespace firn {\nvoid Box::open() {}\n}  // namespace firn\n"
        other = "namespace firn {\nint Box::size(int a) const {\n  return a;\n}\n}  // namespace firn\n"
        self.assert_bad("classes", "codec/box_size.cc", other, 2, {"codec/box.cc": one})
        self.assert_good("classes", "codec/box.cc", one, {"codec/crate.cc": other.replace("Box", "Crate")})

    def test_a_name_of_one_file_may_be_one_of_another_too(self):
        text = "namespace {\nstruct A {\n  void f();\n};\nvoid A::f() {}\n}  // namespace\n"
        self.assert_good("classes", "codec/a.cc", text, {"codec/b.cc": text})


class Functions(SmallTree):
    def test_long_ones_are_found(self):
        body = "  if (a) {\n  }\n" * 29
        self.assert_good("functions", "codec/a.cc", "int f(int a) {\n" + body + "}\n")
        self.assert_bad("functions", "codec/a.cc", "\nint f(int a) {\n" + body + "  g();\n}\n", 2)
        self.assert_bad("functions", "codec/a.cc", "A::A(int a)\n    : a_{a} {\n" + body + "}\n")

    def test_suites_and_namespaces_are_none(self):
        cases = 'TEST_CASE("a") {\n  g();\n}\n' * 30
        self.assert_good("functions", "tests/codec/a.cc", f'TEST_SUITE("s") {{\n{cases}}}\n')
        self.assert_good("functions", "codec/a.cc", f"namespace {{\n{cases}}}\n")

    def test_python_counts_too(self):
        self.assert_good("functions", "scripts/a.py", "def f():\n" + "    g()\n" * 59)
        self.assert_bad("functions", "scripts/a.py", "def f():\n" + "    g()\n" * 60)


class Comments(SmallTree):
    def test_wide_ones_are_found(self):
        self.assert_good("comments", "codec/a.cc", "  // " + "a" * 95 + "\n")
        self.assert_bad("comments", "codec/a.cc", "\n  // " + "a" * 96 + "\n", 2)


class Arrows(SmallTree):
    HOUSE = {path: HEADER for path in (
        "codec/encode.h", "cuda_kernels/batch/batch.h", "cuda_kernels/papers/papers.h",
        "proto/base/ids.h", "proto/transport/transport.h",
        "client/core/swarm.h", "client/content/create.h", "client/store/store.h",
        "client/app/driver.h", "tracker/announce.h", "tracker/server.h", "tests/sim/network.h")}

    def include(self, path, target):
        return self.findings("arrows", {**self.HOUSE, path: f'\n#include "{target}"\n'})

    def test_forbidden_arrows_are_found(self):
        for path, target in (
                ("codec/a.cc", "proto/base/ids.h"),
                ("proto/a.cc", "codec/encode.h"),
                ("proto/a.cc", "proto/transport/transport.h"),
                ("proto/transport/a.cc", "client/core/swarm.h"),
                ("cuda_kernels/a.cu", "proto/base/ids.h"),
                ("cuda_kernels/product/a.cu", "cuda_kernels/papers/papers.h"),
                ("client/app/a.cc", "cuda_kernels/papers/papers.h"),
                ("client/core/a.cc", "proto/transport/transport.h"),
                ("client/core/a.cc", "client/store/store.h"),
                ("client/core/a.cc", "client/content/create.h"),
                ("client/core/a.cc", "client/app/driver.h"),
                ("client/core/a.cc", "cuda_kernels/batch/batch.h"),
                ("client/store/a.cc", "client/app/driver.h"),
                ("client/app/a.cc", "tracker/announce.h"),
                ("tracker/announce.cc", "codec/encode.h"),
                ("tracker/announce.cc", "proto/transport/transport.h"),
                ("proto/base/a.cc", "proto/messages.h"),
                ("client/store/a.cc", "proto/program/usage.h"),
                ("tracker/announce.cc", "client/content/create.h"),
                ("codec/a.h", "tests/sim/network.h"),
                ("codec/a.cc", "codec/no_such_file.h"),
                ("codec/a.cc", "encode.h"),
                ("client/core/a.cc", "proto/peer.pb.h")):
            with self.subTest(path=path, target=target):
                self.assertEqual([f"{path}:2"], self.include(path, target))

    def test_allowed_arrows_are_not(self):
        for path, target in (
                ("codec/a.cc", "codec/encode.h"),
                ("proto/a.cc", "proto/peer.pb.h"),
                ("proto/transport/a.cc", "proto/base/ids.h"),
                ("cuda_kernels/a.cu", "codec/encode.h"),
                ("cuda_kernels/papers/a.cu", "cuda_kernels/batch/batch.h"),
                ("client/core/a.cc", "codec/encode.h"),
                ("client/core/a.cc", "proto/base/ids.h"),
                ("client/app/a.cc", "cuda_kernels/batch/batch.h"),
                ("client/app/a.cc", "proto/transport/transport.h"),
                ("tracker/server.cc", "proto/transport/transport.h"),
                ("tests/sim/a.cc", "network.h"),
                ("tests/sim/a.cc", "client/core/swarm.h")):
            with self.subTest(path=path, target=target):
                self.assertEqual([], self.include(path, target))

    def test_a_commented_include_is_no_include(self):
        self.assert_good("arrows", "codec/a.cc", '// #include "proto/base/ids.h"\n', self.HOUSE)

    def test_source_in_an_unknown_folder_is_found(self):
        self.assert_bad("arrows", "stuff/a.cc", "int x;\n")


class Calls(SmallTree):
    def test_forbidden_calls_are_found(self):
        for path, code in (
                ("client/core/a.cc", "auto t = std::chrono::steady_clock::now();"),
                ("client/core/a.cc", "auto t = time(nullptr);"),
                ("client/core/a.cc", "clock_gettime(CLOCK_MONOTONIC, &t);"),
                ("client/core/a.cc", "int r = rand();"),
                ("client/core/a.cc", "std::random_device r;"),
                ("client/core/a.cc", "#include <thread>"),
                ("client/core/a.cc", "#include <sys/socket.h>"),
                ("client/core/a.cc", "std::ofstream out(name);"),
                ("client/core/a.cc", "int fd = ::open(name, 0);"),
                ("tracker/announce.cc", "auto t = std::chrono::system_clock::now();"),
                ("client/store/a.cc", "SSL_read(ssl, p, n);"),
                ("client/core/a.cc", "uv_loop_t loop;"),
                ("proto/a.cc", 'printf("%d", 1);'),
                ("codec/a.cc", "std::cout << 1;"),
                ("codec/a.cc", "exit(1);"),
                ("client/app/a.cc", "std::this_thread::sleep_for(t);"),
                ("tests/sim/a.cc", "usleep(10);"),
                ("proto/a.h", "using namespace std;")):
            with self.subTest(path=path, code=code):
                self.assert_bad("calls", path, "\n\n" + code + "\n", line=3)

    def test_what_only_looks_like_one_is_not(self):
        for path, code in (
                ("client/core/a.cc", "// steady_clock::now() is the driver's business"),
                ("client/core/a.cc", "/* rand()\n rand() */"),
                ("client/core/a.cc", 'fail("rand() is not for us");'),
                ("client/core/a.cc", "connection.open(now); session.close(); double strand = 1;"),
                ("client/core/a.cc", "TimePoint time = input.time();"),
                ("client/core/a.cc", "int big = 1'000'000; wake(time(3));"),
                ("client/app/a.cc", "uv_run(loop, UV_RUN_DEFAULT);"),
                ("proto/transport/a.cc", "SSL_read(ssl, p, n); uv_close(h, nullptr);"),
                ("tracker/server.cc", "uv_run(loop, UV_RUN_DEFAULT);"),
                ("client/app/a.cc", 'printf("%d", 1);')):
            with self.subTest(path=path, code=code):
                self.assert_good("calls", path, code + "\n")


class TheOtherRules(SmallTree):
    def test_a_header_without_pragma_or_comment_is_found(self):
        self.assert_bad("headers", "codec/a.h", "// What it is.\nint x;\n")
        self.assert_bad("headers", "codec/a.h", "#pragma once\nint x;\n")
        self.assert_good("headers", "codec/a.h", HEADER)

    def test_a_long_file_is_found(self):
        self.assert_bad("sizes", "codec/a.cc", "\n" * 501, line=501)
        self.assert_good("sizes", "codec/a.cc", "\n" * 500)

    def test_a_path_of_one_machine_is_found(self):
        for path in ("/home" + "/ada/firn", "/Users" + "/ada", "/work" + "/main"):
            self.assert_bad("paths", "docs/a.md", f"see {path}/x\n")
        self.assert_good("paths", "docs/a.md", "see https://example.org/home/x and ~/firn\n")

    SCHEMA = ("message Ping {\n  uint32 count = 1;  // how often\n"
              "  oneof body { bytes data = 2; }\n  enum Kind { FAST = 0; }\n}\n")

    def test_a_field_that_no_document_mentions_is_found(self):
        self.assert_bad("documents", "docs/protocol.md", "Ping has `data`.\n",
                        beside={"proto/peer.proto": self.SCHEMA})
        self.assert_bad("documents", "docs/protocol.md", "`count` and `data`\n",
                        beside={"proto/peer.proto": self.SCHEMA})
        self.assert_good("documents", "docs/protocol.md", "Ping has `data` and `Ping.count`.\n",
                         beside={"proto/peer.proto": self.SCHEMA})

    def test_a_described_field_that_does_not_exist_is_found(self):
        self.assert_bad("documents", "docs/protocol.md", "Ping: count, data\n\n`Ping.colour`\n",
                        line=3, beside={"proto/peer.proto": self.SCHEMA})

    def test_a_commit_or_a_time_of_day_in_a_document_for_readers_is_found(self):
        for words in ("of 04c810e", "(2c9510d)", "with `1d47d83`, by", "of b7c339c;",
                      "04c810e59fbe0d2c04c810e59fbe0d2c04c810e5", "at 14:26", "09:44 to 10:03 UTC",
                      "2026-11-21T16:32:05Z"):
            self.assert_bad("readers", "docs/a.md", f"measured\n{words} it was\n", line=2)
            self.assert_good("readers", "docs/lab/001-a.md", f"{words} it was\n")
        for words in ("effaced facade defaced", "1048576 bytes", "12345678 deadbeef", "0x11d",
                      "ratio 1:10", "[::1]:4711 and 127.0.0.1:4711", "2001:db8::1234:1234",
                      "port:14:26x", "    firn 04c810e", "```\n04c810e 14:26\n```",
                      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"):
            self.assert_good("readers", "docs/a.md", f"{words}\n")

    def test_a_link_that_leads_nowhere_is_found(self):
        beside = {"docs/b.md": "# It is: B's (and C)\n"}
        for link in ("c.md", "#nothing", "b.md#nothing", "../b.md"):
            self.assert_bad("links", "docs/a.md", f"# A\nsee\n[this]({link}) one\n", 3, beside)
        for link in ("b.md", "../docs", "#a", "b.md#it-is-bs-and-c", "https://example.org/c.md"):
            self.assert_good("links", "docs/a.md", f"# A\nsee\n[this]({link}) one\n", beside)

    def test_a_large_result_is_found(self):
        self.assert_bad("results", "docs/results/races/a.json", "x" * ((64 << 10) + 1))
        self.assert_good("results", "docs/results/races/a.json", "x" * (64 << 10))
        self.assert_good("results", "docs/a.md", "x" * ((64 << 10) + 1))

    @unittest.skipUnless(tidy.clang_format(), f"{tidy.CLANG_FORMAT} is not installed")
    def test_bad_formatting_is_found(self):
        style = {".clang-format": "BasedOnStyle: Google\n"}
        self.assert_bad("format", "codec/a.cc", "int x;\nint   y;\n", line=2, beside=style)
        self.assert_good("format", "codec/a.cc", "int x;\nint y;\n", beside=style)


if __name__ == "__main__":
    counted_unittest.main()
