"""Test whether an object store keeps the promises that Ferry relies on."""

import secrets
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from service.errors import StoreAway
from service.store.objects.bucket import Bucket
from service.store.objects.requests import Exists, ObjectRequests
from service.store.objects.store import open_bucket

CONTENT, OTHER = bytes(range(256)), b"other"
WIDEST_GAP = timedelta(minutes=5)
# The least that S3 allows for any part but the last.
FIRST_PART = bytes(5 * 2**20)


class UnfitStore(Exception):  # noqa: N818  Errors are nouns here.
    """What the store does wrong, in words that follow "this store"."""


def refuse_unfit(bucket: Bucket) -> None:
    """Store a few objects in the bucket, and read them. Raises UnfitStore."""
    folder = f"self-test/{secrets.token_hex(8)}"
    keys = [f"{folder}/{name}" for name in "ab"]
    objects, requests = open_bucket(bucket), ObjectRequests(bucket)
    try:
        _test_creation(objects, requests, keys[1])
        _test_ranges(objects, keys[1])
        _test_parts(objects, requests, keys[0])
        _test_listing(objects, folder, keys)
    except (StoreAway, BaseError, FileNotFoundError) as trouble:
        gap = requests.clock_gap()
        if abs(gap) > WIDEST_GAP:
            minutes = round(gap.total_seconds() / 60)
            raise UnfitStore(f"has a clock {minutes:+d} minutes off this machine's") from trouble
        raise UnfitStore("doesn't answer, or refuses what the keys ask of it") from trouble
    finally:
        requests.close()
        with suppress(BaseError, FileNotFoundError):
            obstore.delete(objects, keys)


def _test_creation(objects: S3Store, requests: ObjectRequests, key: str) -> None:
    requests.create(key, CONTENT)
    with suppress(Exists):
        requests.create(key, OTHER)
        _refuse("overwrites objects in spite of If-None-Match")
    if bytes(obstore.get(objects, key).bytes()) != CONTENT:
        _refuse("doesn't return what was stored")


def _test_ranges(objects: S3Store, key: str) -> None:
    for start, length in ((0, 1), (100, 56), (255, 1)):
        piece = bytes(obstore.get_range(objects, key, start=start, length=length))
        if piece != CONTENT[start : start + length]:
            _refuse("doesn't return the ranges that are requested")


def _test_parts(objects: S3Store, requests: ObjectRequests, key: str) -> None:
    upload_id = requests.begin(key)
    try:
        etags = [requests.add_part(key, upload_id, 1, FIRST_PART)]
        with suppress(FileNotFoundError):
            obstore.head(objects, key)
            _refuse("shows objects before they are complete")
        if key not in [each.key for each in requests.list_unfinished()]:
            _refuse("doesn't list unfinished uploads")
        etags.append(requests.add_part(key, upload_id, 2, CONTENT))
        requests.finish(key, upload_id, etags)
    except BaseException:
        with suppress(StoreAway):
            requests.abort(key, upload_id)
        raise
    end = bytes(obstore.get_range(objects, key, start=len(FIRST_PART) - 1, length=257))
    if end != FIRST_PART[:1] + CONTENT:
        _refuse("doesn't join the parts of an upload")


def _test_listing(objects: S3Store, folder: str, keys: list[str]) -> None:
    listed = [each["path"] for batch in obstore.list(objects, folder) for each in batch]
    if listed != keys:
        _refuse("doesn't list objects in the order of their keys")


def _refuse(what: str) -> NoReturn:
    raise UnfitStore(what)
