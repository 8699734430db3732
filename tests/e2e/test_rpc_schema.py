#!/usr/bin/python3
"""docs/rpc.schema.json: it names the methods, parameters and members that docs/rpc.md names and that
the daemon has, and what the daemon answers is as it says."""

import json
import re
import subprocess
import unittest

import doors
import harness
import rpc_client
from harness import KIB, ROOT

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = json.loads((ROOT / "docs/rpc.schema.json").read_text())
METHODS = SCHEMA["$defs"]["methods"]
PAGE = (ROOT / "docs/rpc.md").read_text()


def rows(heading):
    """The rows of the first table after a heading of docs/rpc.md: lists of cells."""
    table = re.search(r"(?:^\|.*\n)+", PAGE.partition(f"\n{heading}\n")[2], re.MULTILINE).group()
    return [[cell.strip() for cell in row.strip("|\n ").split(" | ")] for row in table.splitlines()[2:]]


def members(text):
    """The names in backticks that a table's first cells begin with."""
    return set(re.findall(r"`(\w+)`", text))


class Documents(unittest.TestCase):
    def test_the_page_names_the_same_methods_and_parameters(self):
        described = {}
        for cells in rows("## Methods"):
            # "`a`: what it is; `b` (false): what that is"
            described[members(cells[0]).pop()] = set(
                re.findall(r"(?:^|; )`(\w+)`(?: \([^)]*\))?(?=[:,;]|$)", cells[1].replace(", `", "; `")))
        self.assertEqual(set(METHODS), set(described))
        for name, method in METHODS.items():
            self.assertEqual(set(method["params"]["properties"]), described[name], name)

    def test_the_page_names_the_same_members_of_a_content(self):
        part = PAGE.partition("\n### A content\n")[2].partition("\n## ")[0]
        named = set().union(*(members(row.split("|")[1]) for row in re.findall(r"^\| `.*", part, re.MULTILINE)))
        self.assertEqual(set(SCHEMA["$defs"]["content"]["properties"]), named)

    def test_the_page_names_the_same_errors(self):
        codes = {int(cells[0]) for cells in rows("## Errors")}
        known = set()
        for one in SCHEMA["$defs"]["error"]["oneOf"]:
            code = one["properties"]["code"]
            known |= set(code.get("enum", [code.get("const")]))
        self.assertEqual(codes, known)


class Daemon(doors.Door):
    def test_the_daemon_has_the_same_methods_and_parameters(self):
        self.daemon()
        told = self.rpc("methods")["methods"]
        self.assertEqual({name: sorted(method["params"]["properties"]) for name, method in METHODS.items()},
                         {name: sorted(params) for name, params in told.items()})

    def test_version_and_status_tell_what_the_program_was_built_from(self):
        self.daemon()
        printed = subprocess.run([harness.BUILD / "client/firn", "--version"], capture_output=True, text=True).stdout
        told = self.rpc("version")
        commit = f' ({told["commit"]})' if told["commit"] else ""
        self.assertEqual(printed, f'firn {told["version"]}{commit}\n')
        status = self.rpc("status")
        self.assertEqual(told, {name: status[name] for name in told})

    @unittest.skipUnless(jsonschema, "no python3-jsonschema")
    def test_the_schema_is_one_and_refuses_what_is_wrong(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.check("request", {"jsonrpc": "2.0", "id": 1, "method": "show", "params": {"content": "x"}})
        for wrong in ({"jsonrpc": "2.0", "method": "show"}, {"jsonrpc": "2.0", "method": "shows"},
                      {"jsonrpc": "2.0", "method": "show", "params": {"content": 1}},
                      {"jsonrpc": "2.0", "method": "list", "params": {"content": "x"}}):
            with self.assertRaises(jsonschema.ValidationError, msg=wrong):
                self.check("request", wrong)

    def check(self, what, value):
        schema = {"$schema": SCHEMA["$schema"], "$defs": SCHEMA["$defs"], "$ref": "#/$defs/" + what}
        jsonschema.Draft202012Validator(schema).validate(value)

    def rpc(self, method, **params):
        """Asks, and holds request and answer to the schema."""
        if not jsonschema:
            return super().rpc(method, **params)
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = json.loads(self.http("POST", "/rpc", json.dumps(request))[2])
        self.asked = getattr(self, "asked", set()) | {method}
        if "error" in answer:
            self.check("error", answer["error"])
            self.failed = rpc_client.Failed(answer["error"])
            raise self.failed
        self.check("request", request)
        self.check(f"methods/{method}/result", answer["result"])
        return answer["result"]

    def change(self, id):
        """Tries what changes a content or the daemon, but its ends."""
        self.rpc("limit", content=id, up=1000, down="none", seed_ratio=1.5, seed_time=3600)
        self.rpc("limit", up=1 << 20)
        self.rpc("priority", content=id, priority="high")
        self.assertEqual([1], [file["number"] for file in self.rpc("files", content=id)["files"]])
        self.rpc("queue", content=id, to="first")
        self.rpc("status")
        watched = self.folder / "watched"
        watched.mkdir()
        self.assertEqual(1, len(self.rpc("watch", folder=str(watched), output=str(self.folder))["folders"]))
        self.assertEqual(self.rpc("status")["download_dir"], self.rpc("watch", folder=str(watched))["folders"][0]["output"])
        self.rpc("watches")
        self.rpc("unwatch", folder=str(watched))
        (self.folder / "elsewhere").mkdir()
        self.rpc("move", content=id, folder=str(self.folder / "elsewhere"))
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")
        self.assertTrue(self.rpc("show", content=id)["folder"].endswith("elsewhere"))
        for method, params in (("limit", {"up": -1}), ("priority", {"content": id, "priority": "highest"}),
                               ("queue", {"content": id, "to": "front"}), ("move", {"content": id, "folder": "d"}),
                               ("files", {"content": id, "files": ["file:missing"]}),
                               ("watch", {"folder": "d", "output": "d"}), ("unwatch", {"folder": "/missing"})):
            with self.assertRaises(rpc_client.Failed, msg=method):
                self.rpc(method, **params)

    @unittest.skipUnless(jsonschema, "no python3-jsonschema")
    def test_what_the_daemon_answers_is_as_the_schema_says(self):
        source = self.file(600 * KIB)
        seed = self.share(source)
        served = self.file(50 * KIB, "served.bin")
        manifest = self.create(served)
        self.daemon("--down-limit", "200K")
        folder = str(self.folder / "d")
        id = self.rpc("add", source=seed.link(), folder=folder)["content_id"]
        seen = set()

        def complete(contents):
            seen.update(self.rpc("show", content=id))
            for one in self.rpc("peers", content=id)["peers"]:
                seen.add("peer of " + one["direction"])
            return contents[0]["complete"]
        self.wait_for(complete)
        self.rpc("add", source=str(manifest), folder=str(served.parent), serve=True, seeding="forever", trust=True)
        self.wait_for(lambda contents: contents[1]["state"] == "seeding")
        self.assertIn("peer=", self.rpc("show", content="served.bin")["link"])
        # Nobody has this one.
        self.rpc("add", source="firn:" + "a" * 52, folder=folder)
        self.wait_for(lambda contents: self.rpc("show", content="a" * 52).get("waits_for"))
        self.assertEqual([1], [file["number"] for file in self.rpc("play", content=id)["files"]])
        self.rpc("pause", content=id)
        self.rpc("resume", content=id)
        # A file that is missing where it is served makes a content fail.
        gone = self.file(20 * KIB, "gone.bin")
        lost = self.create(gone)
        gone.unlink()
        try:
            self.rpc("add", source=str(lost), folder=str(gone.parent), serve=True)
            self.wait_for(lambda contents: any(one["state"] == "failed" for one in contents))
        except rpc_client.Failed:
            pass  # it may be refused at once
        for method, params in (("show", {"content": "missing"}), ("show", {}), ("nothing", {}),
                               ("list", {"content": "x"}), ("add", {"source": "firn:x", "folder": folder}),
                               ("add", {"source": str(manifest), "serve": True})):
            with self.assertRaises(rpc_client.Failed):
                self.rpc(method, **params)
        self.change(id)
        self.rpc("remove", content=id, delete_data=True)
        self.rpc("version")
        self.assertEqual({"url": self.url + "/", "token": self.token}, self.rpc("page"))
        self.rpc("methods")
        self.rpc("stop")
        self.assertEqual(set(), set(METHODS) - self.asked, "methods of the schema that this test did not try")
        self.assertIn("peer of out", seen)


if __name__ == "__main__":
    harness.main()
