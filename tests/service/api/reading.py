"""Read responses in tests."""

import json
from pathlib import Path
from typing import Any

import httpx

SAMPLES = Path(__file__).parents[2] / "samples" / "ours"


def sample(name: str) -> dict[str, Any]:
    return json.loads((SAMPLES / f"{name}.json").read_text())


def word(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and reason of a refusal, and check the form that all refusals share."""
    assert answer.headers["content-type"] == "application/json"
    facts = answer.json()
    assert facts.keys() >= sample("error.http404").keys()
    assert facts["code"] == facts["status_code"] == answer.status_code
    assert facts["error"] == facts["reason_phrase"]
    return answer.status_code, facts["reason_phrase"]


def shape(value: Any) -> Any:
    """Return names and types instead of values; null has no type."""
    match value:
        case dict():
            return {key: shape(each) for key, each in value.items()}
        case list():
            return [shape(value[0])] if value else []
        case None:
            return None
        case bool() | str():
            return type(value).__name__
        case _:
            return "number"
