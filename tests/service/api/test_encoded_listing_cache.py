"""Listings are encoded once for each ETag, within a limit of bytes."""

from service.api.encoded import listings as encoded_listing_cache
from service.api.encoded.listings import MOST_BYTES, EncodedListings
from service.api.views import folders
from tests.service.builders import a_file

QUARTER = bytes(MOST_BYTES // 4)


def nothing() -> bytes:
    raise AssertionError("encoded again")


def test_the_latest_used_stay_within_the_limit():
    listings = EncodedListings()
    for etag in "abcd":
        assert listings.find(etag, lambda: QUARTER) == QUARTER
    assert listings.find("a", nothing) == QUARTER
    listings.find("e", lambda: QUARTER)
    for etag in "acde":
        listings.find(etag, nothing)
    assert listings.find("b", lambda: b"anew") == b"anew"


def test_a_listing_of_half_the_cache_size_is_not_cached():
    listings = EncodedListings()
    listings.find("small", lambda: b"small")
    listings.find("large", lambda: bytes(MOST_BYTES // 2 + 1))
    assert listings.find("large", lambda: b"anew") == b"anew"
    assert listings.find("small", nothing) == b"small"


def test_a_listing_read_twice_at_once_counts_once():
    listings = EncodedListings()

    def encode() -> bytes:
        listings.find("a", lambda: QUARTER)
        return QUARTER

    listings.find("a", encode)
    for etag in "bcd":
        listings.find(etag, lambda: QUARTER)
    assert listings.find("a", nothing) == QUARTER


def test_a_folder_is_encoded_again_only_after_a_change(api, account, monkeypatch):
    # Other tests do without, since they start again with the same ETags.
    monkeypatch.setattr(encoded_listing_cache.listings, "find", EncodedListings().find)
    a_file(account, "a.txt")
    first = api.get("/rest/folder")
    with monkeypatch.context() as patch:
        # No response tells whether it was encoded again.
        patch.setattr(folders, "listing_record", nothing)
        assert api.get("/rest/folder").content == first.content
    a_file(account, "b.txt")
    assert b"b.txt" in api.get("/rest/folder").content
