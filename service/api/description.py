"""Describe the API for programs (OpenAPI) and for people (a page)."""

import re
from collections.abc import Iterable, Mapping

from django.urls import get_script_prefix
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from msgspec import Struct
from msgspec.json import schema, schema_components

from service.api.endpoints import Operation
from service.api.inputs import Id
from service.api.outcomes import Schema, records_of, response, responses_of
from service.http.records import Refusal

Groups = Mapping[str, Iterable[Operation]]

REFUSED = response("Refused", Refusal)
ID_IN_PATH = re.compile(r"{(\w+)}")
ABOUT = "Every call but those of the description needs HTTP Basic: the account's email address "
ABOUT += "and password."


def document(groups: Groups) -> Schema:
    operations = [each for group in groups.values() for each in group]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Ferry: REST API v1", "version": "1", "description": ABOUT},
        "security": [{"basic": []}],
        "paths": paths(groups),
        "components": {
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
            "schemas": response_schemas(operations),
        },
    }


def paths(groups: Groups) -> Schema:
    path_items: Schema = {}
    for group, operations in groups.items():
        for operation in operations:
            methods = path_items.setdefault(operation.path, {})
            methods[operation.method.lower()] = describe(operation, group)
    return path_items


def response_schemas(operations: Iterable[Operation]) -> Schema:
    records = {each for operation in operations for each in records_of(operation.hints["return"])}
    in_order = sorted(records | {Refusal}, key=lambda record: record.__name__)
    _references, schemas = schema_components(in_order, ref_template="#/components/schemas/{name}")
    for each in schemas.values():
        require_defaults(each)
    return schemas


def require_defaults(record: Schema) -> None:
    """Declare fields with a default as required, because responses always include them."""
    for name, field in record["properties"].items():
        if "default" in field:
            del field["default"]
            record.setdefault("required", []).append(name)


def describe(operation: Operation, group: str) -> Schema:
    input_schema = record_schema(operation.sent) if operation.sent else None
    ids = [in_path(name) for name in ID_IN_PATH.findall(operation.path)]
    is_query = operation.method == "GET"
    queries = in_query(input_schema) if input_schema and is_query else []
    return {
        "summary": operation.summary,
        "tags": [group],
        "parameters": ids + queries,
        "responses": responses_of(operation.hints["return"]) | {"default": REFUSED},
        **(body(input_schema) if input_schema and not is_query else {}),
        **({"security": []} if operation.is_open else {}),
    }


def record_schema(record: type[Struct]) -> Schema:
    _references, schemas = schema_components([record])
    result: Schema = schemas[record.__name__]
    return result


def in_path(name: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": schema(Id)}


def in_query(input_schema: Schema) -> list[Schema]:
    required = input_schema.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field["description"],
            "schema": field,
        }
        for name, field in input_schema["properties"].items()
    ]


def body(input_schema: Schema) -> Schema:
    content = {each: {"schema": input_schema} for each in types_of(input_schema)}
    return {"requestBody": {"required": True, "content": content}}


def types_of(input_schema: Schema) -> list[str]:
    required = [input_schema["properties"][name] for name in input_schema.get("required", [])]
    if any(field.get("format") == "binary" for field in required):
        return ["multipart/form-data"]
    return ["application/x-www-form-urlencoded", "multipart/form-data", "application/json"]


def page_of(groups: Groups) -> SafeString:
    terms = [format_html_join("\n", TERM, map(term, operations)) for operations in groups.values()]
    sections = format_html_join("\n", SECTION, zip(groups, terms, strict=True))
    return format_html(PAGE, about=ABOUT, groups=sections, link=f"{get_script_prefix()}rest")


def term(operation: Operation) -> tuple[str, str, str, SafeString]:
    properties = record_schema(operation.sent)["properties"] if operation.sent else {}
    meanings = ((name, field["description"]) for name, field in properties.items())
    fields = format_html_join("", FIELD, meanings)
    return operation.method, operation.path, operation.summary, fields


SECTION = "<h2>{}</h2>\n<dl>\n{}\n</dl>"
TERM = "<dt><code>{} {}</code></dt>\n<dd>{}{}</dd>"
FIELD = "<br><code>{}</code> {}"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Ferry: REST API v1</title>
</head>
<body>
<h1>Ferry: REST API v1</h1>
<p>{about} For machines: <a href="{link}/openapi.json">openapi.json</a>.</p>
{groups}
</body>
</html>
"""
