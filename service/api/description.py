"""The interface, told to machines (OpenAPI) and to people (a page)."""

import re
from typing import Any

from django.http import HttpResponse
from django.urls import get_script_prefix
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from service.api import answers
from service.api.http import Request
from service.api.operations import GROUPS, Answer, Field, Operation, Sent
from service.api.schemas import SCHEMAS

Schema = dict[str, Any]

PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
ID_IN_PATH = re.compile(r"{(\w+)}")
ABOUT = "Every call but those of the description needs HTTP Basic: the account's e-mail address "
ABOUT += "and password."


def openapi(request: Request) -> HttpResponse:
    return answers.record(document())


def document() -> Schema:
    return {
        "openapi": "3.0.3",
        "info": {"title": "Ferry: REST API v1", "version": "1", "description": ABOUT},
        "servers": [{"url": get_script_prefix().rstrip("/") or "/"}],
        "security": [{"basic": []}],
        "paths": paths(),
        "components": {
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
            "schemas": SCHEMAS,
        },
    }


def paths() -> Schema:
    found: Schema = {}
    for group, operations in GROUPS.items():
        for operation in operations:
            methods = found.setdefault(operation.path, {})
            methods[operation.method.lower()] = described(operation, group)
    return found


def described(operation: Operation, group: str) -> Schema:
    ids = [in_path(name) for name in ID_IN_PATH.findall(operation.path)]
    queries = [in_query(field) for field in operation.fields if field.sent == Sent.QUERY]
    return {
        "summary": operation.summary,
        "tags": [group],
        "parameters": ids + queries,
        "responses": responses(operation),
        **body(operation),
        **({"security": []} if operation.is_open else {}),
    }


def in_path(name: str) -> Schema:
    schema = {"type": "integer", "format": "int64", "minimum": 0}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def in_query(field: Field) -> Schema:
    return {
        "name": field.name,
        "in": "query",
        "required": field.is_required,
        "description": field.meaning,
        "schema": schema_of(field),
    }


def body(operation: Operation) -> Schema:
    fields = [field for field in operation.fields if field.sent != Sent.QUERY]
    if not fields:
        return {}
    schema = {
        "type": "object",
        "properties": {field.name: schema_of(field) for field in fields},
        "required": [field.name for field in fields if field.is_required],
    }
    content = {each: {"schema": schema} for each in types_of(fields)}
    return {"requestBody": {"required": True, "content": content}}


def types_of(fields: list[Field]) -> list[str]:
    if any(field.sent == Sent.FILE and field.is_required for field in fields):
        return ["multipart/form-data"]
    return ["application/x-www-form-urlencoded", "multipart/form-data", "application/json"]


def schema_of(field: Field) -> Schema:
    if field.is_number:
        return {"type": "integer", "minimum": 0, "description": field.meaning}
    binary = {"format": "binary"} if field.sent == Sent.FILE else {}
    return {"type": "string", "description": field.meaning, **binary}


def responses(operation: Operation) -> Schema:
    refused = {"description": "Refused", "content": json_of("Refusal")}
    return {**went_well(operation.answer), "default": refused}


def went_well(answer: Answer) -> Schema:
    match answer:
        case Answer.CONTENT:
            header = {"schema": {"type": "string"}}
            return {"302": {"description": "Leads to it", "headers": {"Location": header}}}
        case Answer.PICTURE:
            picture = {"image/*": {"schema": {"type": "string", "format": "binary"}}}
            return {"200": {"description": "The picture", "content": picture}}
        case Answer.PAGE:
            page = {"text/html": {"schema": {"type": "string"}}}
            return {"200": {"description": "A page", "content": page}}
        case Answer.DESCRIPTION:
            anything = {"application/json": {"schema": {"type": "object"}}}
            return {"200": {"description": "OpenAPI", "content": anything}}
    return {"200": {"description": answer.value, "content": json_of(answer.value)}}


def json_of(name: str) -> Schema:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def page(request: Request) -> HttpResponse:
    groups = format_html_join("\n", "<h2>{}</h2>\n<dl>\n{}\n</dl>", sections())
    html = format_html(PAGE, about=ABOUT, groups=groups, link=f"{get_script_prefix()}rest")
    response = HttpResponse(html)
    response["Content-Security-Policy"] = PAGE_POLICY
    return response


def sections() -> list[tuple[str, SafeString]]:
    return [
        (group, format_html_join("\n", TERM, map(term, operations)))
        for group, operations in GROUPS.items()
    ]


def term(operation: Operation) -> tuple[str, str, str, SafeString]:
    fields = format_html_join("", FIELD, ((each.name, each.meaning) for each in operation.fields))
    return operation.method, operation.path, operation.summary, fields


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
