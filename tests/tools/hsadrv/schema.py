"""Whether JSON files are as their schema says: the one of docs/schema that each names itself. Every object's keys must be in the
schema, so that what is printed is what is documented. Usage: schema.py FOLDER FILE.json…"""
import json
import pathlib
import sys

import jsonschema


def closed(schema):
    """The schema, with no key allowed that it does not name. (Users' copies allow new keys: they may come in a minor release.)"""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    if "properties" in schema:
        parts.setdefault("additionalProperties", False)
    return parts


for file in sys.argv[2:]:
    report = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    subject = report["schema"].removeprefix("hsadrv.")
    schema = closed(json.loads((pathlib.Path(sys.argv[1]) / f"{subject}.v{report['schema_version']}.json").read_text(encoding="utf-8")))
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(report))
    for error in errors[:10]:
        print(f"{file}: at {error.json_path}: {error.message}")
    if errors:
        sys.exit(1)
