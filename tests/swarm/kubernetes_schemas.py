"""Kubernetes' published schemas, as the npm package kubernetes-models holds them (Kubernetes 1.27): JSON
within JavaScript. They are not part of this repository; docs/hacking.md has the command that puts
them into .cache. The schemas allow members that they do not name; here those are errors, as a
server with strict validation has it.
"""

import json
import pathlib
import re

import jsonschema

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / ".cache" / "kubernetes" / "node_modules"
PACKAGES = ("kubernetes-models", "@kubernetes-models/apimachinery")
_SCHEMA = re.compile(r"^const schema = (\{.*?^\});", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'register\)\("([\w.]+)", schema\)')


def available():
    return all((FOLDER / package / "_schemas").is_dir() for package in PACKAGES)


def load():
    """{name: schema}."""
    found = {}
    for package in PACKAGES:
        for path in (FOLDER / package / "_schemas").glob("*.js"):
            text = path.read_text(encoding="utf-8")
            name, schema = _NAME.search(text), _SCHEMA.search(text)
            if name and schema:
                found[name.group(1)] = _strict(json.loads(schema.group(1)))
    return found


def _strict(schema):
    """References as this file's own, and no members but those that are named."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items()}
    if isinstance(strict.get("$ref"), str):
        strict["$ref"] = f"#/definitions/{strict['$ref'].removesuffix('#')}"
    if isinstance(strict.get("properties"), dict):
        strict.setdefault("additionalProperties", False)
    return strict


def errors(item, schemas):
    """What is wrong with an object of the API, a line each."""
    version, kind = item["apiVersion"], item["kind"]
    group = "core" if "/" not in version else version.partition("/")[0]
    name = f"io.k8s.api.{group}.{version.rpartition('/')[2]}.{kind}"
    validator = jsonschema.Draft7Validator(
        {"$ref": f"#/definitions/{name}", "definitions": schemas})
    return [f"{kind}: {'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in map(_innermost, validator.iter_errors(item))]


def _innermost(error):
    """Where an object may be of several kinds, what is wrong with it as the kind it is nearest to."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return error
