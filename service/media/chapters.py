"""The chapters of a film, as its file names them."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

MOST_CHAPTERS = 200
Title = Annotated[str, Meta(max_length=200)]


class Chapter(Struct):
    start: Annotated[float, Meta(ge=0, description="Seconds from the beginning")]
    title: Title


Chapters = Annotated[list[Chapter], Meta(max_length=MOST_CHAPTERS)]


def chapters_of(facts: dict[str, Any]) -> list[Chapter]:
    """Return the chapters that a child or the worker sent, or none if they have another form.

    A child taken over by a hostile file may send anything.
    """
    try:
        return msgspec.convert(facts.get("chapters"), Chapters)
    except msgspec.ValidationError:
        return []
