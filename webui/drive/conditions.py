"""Conditions of requests: If-Match, If-None-Match, and If, which also has tokens of locks."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from webui.drive import locks
from webui.drive.properties import etag_of
from webui.drive.refusals import Refused
from webui.drive.tree import Drive, DrivePlace, path_in
from webui.http.requests import Request
from webui.models import DriveLock

MOST_CONDITIONS = 50
LISTS = re.compile(r"\s*(?:<(?P<tag>[^<>]*)>\s*)?\((?P<list>[^()]*)\)")
STATE = re.compile(
    r'\s*(?P<not>not\b)?\s*(?:<(?P<token>[^<>]*)>|\[(?P<etag>(?:W/)?"[^"]*")\])', re.IGNORECASE
)


class State(NamedTuple):
    is_negated: bool
    token: str
    etag: str


class Condition(list[tuple[str, list[State]]]):
    """Lists of states: each for a URL, or for that of the request if that is empty. The request
    may go on if all states of one list are true."""

    @property
    def tokens(self) -> set[str]:
        return {state.token for _url, states in self for state in states if state.token}


def condition_in(header: str) -> Condition:
    """Parse the header If. Raises Refused if it is malformed."""
    lists, url = Condition(), ""
    for match in matches_of(LISTS, header):
        url = match["tag"] if match["tag"] is not None else url
        states = [
            State(bool(each["not"]), each["token"] or "", each["etag"] or "")
            for each in matches_of(STATE, match["list"])
        ]
        lists.append((url, states))
    return lists


def matches_of(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that make up a text. Raises Refused if something else is between them, or
    if there are too many: for each list, folders are read."""
    at, text = 0, text.rstrip()
    for _number in range(MOST_CONDITIONS):
        if at == len(text):
            return
        match = pattern.match(text, at)
        if match is None:
            break
        yield match
        at = match.end()
    raise Refused(400, "malformed If")


def check(request: Request, drive: Drive, place: DrivePlace, condition: Condition) -> None:
    """Raise Refused unless what the program knows about the place, or others, is still true."""
    headers, etag = request.headers, etag_of(drive, place.entry)
    if "If-Match" in headers and not matches(headers["If-Match"], etag, place):
        raise Refused(412)
    if "If-None-Match" in headers and matches(headers["If-None-Match"], etag, place):
        raise Refused(412)
    active = locks.of_service(drive.service.key) if condition else []

    def is_true(url: str, states: Iterable[State]) -> bool:
        path = path_in(url, request.get_host()) if url else "/".join(place.names)
        return path is not None and are_true(states, drive, drive.find(path), active)

    if condition and not any(is_true(url, states) for url, states in condition):
        raise Refused(412)


def matches(header: str, etag: str, place: DrivePlace) -> bool:
    if header.strip() == "*":
        return place.entry is not None
    return bool(etag) and etag in [each.strip() for each in header.split(",")]


def are_true(
    states: Iterable[State], drive: Drive, place: DrivePlace, active: list[DriveLock]
) -> bool:
    tokens = {each.token for each in locks.covering(active, drive.full_path(place))}
    etag = etag_of(drive, place.entry)
    return all(
        (each.token in tokens if each.token else each.etag == etag) != each.is_negated
        for each in states
    )
