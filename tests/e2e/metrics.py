"""What the tests of /metrics of both programs share: reading the text, and holding examples to it."""

import json
import re
import shutil
import subprocess

LABEL = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf'([a-z_]+)(\{{{LABEL}(?:,{LABEL})*\}})? ([0-9.e+-]+)')


def parse(text):
    """({metric: type}, {metric with labels: value}); fails where the text is not as the format's description says."""
    types, values, current = {}, {}, ""
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert current not in types, line
            assert (kind == "counter") == current.endswith("_total"), line
            types[current] = kind
        elif not line.startswith("# HELP "):
            found = SAMPLE.fullmatch(line)
            assert found, line
            assert found.group(1) == current, f"not below its type: {line}"
            series = current + (found.group(2) or "")
            assert series not in values, f"twice: {series}"
            values[series] = float(found.group(3))
    return types, values


def labels(values):
    """The labels that these series have."""
    return {label for series in values for label in re.findall(r'([a-z_]+)="', series)}


def assert_promtool_agrees(test, text):
    if not shutil.which("promtool"):
        test.skipTest("no promtool: scripts/setup --checks installs it")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, check=False)
    test.assertEqual((0, b""), (checked.returncode, checked.stderr + checked.stdout))


def assert_promtool_parses(test, path):
    """The expressions of a dashboard, as rules."""
    if not shutil.which("promtool"):
        test.skipTest("no promtool: scripts/setup --checks installs it")
    dashboard = json.loads(path.read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = [{"record": f"firn:{i}", "expr": expression} for i, expression in enumerate(expressions)]
    file = test.folder / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8")
    checked = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    test.assertEqual(0, checked.returncode, checked.stdout + checked.stderr)


def queries(path):
    """The expressions of a dashboard, or the whole text of what is none."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return [text]
    dashboard = json.loads(text)
    found = [variable["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    return found + [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def assert_example_fits(test, path, printed):
    """Every metric that the example's queries name is printed, and every label they choose by."""
    types, values = parse(printed)
    known = labels(values) | {"instance", "job"}
    used = set()
    for query in queries(path):
        used |= set(re.findall(r"\b(?:firn|process)_[a-z_]+", query))
        if path.suffix == ".json":
            chosen = re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)\s*\"", query)
            test.assertLessEqual(set(chosen), known, query)
    test.assertTrue(used, path)
    test.assertEqual(set(), used - set(types), path)
