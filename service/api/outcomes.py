"""Responses of views, as their annotations declare them: records, or OpenAPI schemas."""

from typing import Annotated, Any, get_args

from django.http import HttpResponse, HttpResponseBase
from msgspec import Struct

from service.api.records import Playable

Schema = dict[str, Any]

CONTENT: Schema = {"type": "string", "format": "binary"}
LOCATION: Schema = {"Location": {"schema": {"type": "string", "format": "uri"}}}


def redirect(content_type: str, what: str) -> Schema:
    """Describe a redirect and its target, whose link needs no credentials.

    Clients that follow redirects see only the second response.
    """
    content = {content_type: {"schema": CONTENT}}
    return {
        "302": {"description": f"Leads to {what}", "headers": LOCATION},
        "200": {"description": f"Behind the redirect: {what}", "content": content},
        "206": {"description": f"Behind the redirect: a Range of {what}", "content": content},
    }


def whole(what: str, content_type: str, schema: Schema) -> Schema:
    return {"200": {"description": what, "content": {content_type: {"schema": schema}}}}


def response(description: str, *records: type[Struct]) -> Schema:
    schemas = [{"$ref": f"#/components/schemas/{each.__name__}"} for each in records]
    schema = {"anyOf": schemas} if len(schemas) > 1 else schemas[0]
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def records_of(answer: Any) -> list[type[Struct]]:
    """Return the records in a view's return annotation."""
    parts = getattr(answer, "__metadata__", None) or get_args(answer) or (answer,)
    return [each for each in parts if isinstance(each, type)]


def responses_of(answer: Any) -> Schema:
    records = records_of(answer)
    names = " or ".join(each.__name__ for each in records)
    responses = {"200": response(names, *records)} if records else {}
    for each in getattr(answer, "__metadata__", ()):
        if not isinstance(each, type):
            responses |= each
    return responses


PLAYABLE = response("Playable", Playable) | {"headers": LOCATION}

FileLink = Annotated[HttpResponse, redirect("*/*", "the file")]
ArchiveLink = Annotated[HttpResponse, redirect("application/zip", "the archive")]
PlayableLink = Annotated[HttpResponse, Playable, {"200": PLAYABLE}]
Picture = Annotated[HttpResponseBase, whole("The picture", "image/*", CONTENT)]
Page = Annotated[HttpResponse, whole("A page", "text/html", {"type": "string"})]
Description = Annotated[HttpResponse, whole("OpenAPI", "application/json", {"type": "object"})]
