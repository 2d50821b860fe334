"""Whether JSON files are as their schema says: the one of docs/schema that each names itself. Every object's keys must be in the
schema, so that what is printed is what is documented. Usage: schema.py FOLDER FILE.json…; or import it."""
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


def problems(report, schema_file):
    """What of the report is not as the schema says, in words."""
    schema = closed(json.loads(pathlib.Path(schema_file).read_text(encoding="utf-8")))
    jsonschema.Draft202012Validator.check_schema(schema)
    return [f"at {error.json_path}: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(report)]


if __name__ == "__main__":
    for file in sys.argv[2:]:
        document = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        name = document["schema"].removeprefix("hsadrv.")
        found = problems(document, pathlib.Path(sys.argv[1]) / f"{name}.v{document['schema_version']}.json")
        for problem in found[:10]:
            print(f"{file}: {problem}")
        if found:
            sys.exit(1)
