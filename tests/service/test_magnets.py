import base64

import pytest

from service import magnets
from service.errors import BadMagnet

HASH = "08ada5a7a6183aae1e09d831df6748d566095a10"


def test_a_plain_magnet_is_read():
    magnet = magnets.read(f"magnet:?xt=urn:btih:{HASH}&dn=Sintel+the%20film&xl=129302391")
    assert (magnet.info_hash_v1, magnet.info_hash_v2) == (HASH, "")
    assert (magnet.name, magnet.size_bytes) == ("Sintel the film", 129302391)


@pytest.mark.parametrize(
    "uri",
    [
        f"magnet:?xt=urn:btih:{HASH.upper()}",
        f"MAGNET:?XT=urn:btih:{HASH}",
        f"  magnet:?xt=urn:btih:{HASH}\n",
        f"magnet:?dn=x&xt.1=urn:btih:{HASH}",
        f"magnet:?xt=urn%3Abtih%3A{HASH}",
        f"magnet:?xt=urn:sha1:ABC&xt=urn:btih:{HASH}",
        "magnet:?xt=urn:btih:" + base64.b32encode(bytes.fromhex(HASH)).decode(),
        "magnet:?xt=urn:btih:" + base64.b32encode(bytes.fromhex(HASH)).decode().lower(),
    ],
)
def test_every_spelling_of_a_hash_is_the_same(uri):
    assert magnets.read(uri).info_hash_v1 == HASH


def test_a_hybrid_has_both_hashes():
    magnet = magnets.read(f"magnet:?xt=urn:btih:{HASH}&xt=urn:btmh:1220{'b' * 64}")
    assert (magnet.info_hash_v1, magnet.info_hash_v2) == (HASH, "b" * 64)
    assert magnets.read(magnets.link(HASH, "b" * 64)) == magnet


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "magnet:",
        "magnet:?dn=Sintel",
        "magnet:?xt=urn:btih:abc",
        f"magnet:?xt=urn:btih:{HASH}0",
        f"magnet:?xt=urn:btih:{HASH[:-1]}g",
        "magnet:?xt=urn:btmh:1220abc",
        f"magnet:?xt=urn:btih:{HASH}&dn=a\0b",
        f"http://example.org/?xt=urn:btih:{HASH}",
        f"magnet:?xt=urn:btih:{HASH}" + "&tr=udp://t" * 10_000,
        f"magnet:?xt=urn:btih:{HASH}" + "&a=b" * 1_001,
    ],
)
def test_what_is_no_magnet_is_refused(uri):
    with pytest.raises(BadMagnet):
        magnets.read(uri)


@pytest.mark.parametrize("size", ["-1", "1e9", "９", "1" * 30, ""])
def test_an_absurd_size_is_not_believed(size):
    assert magnets.read(f"magnet:?xt=urn:btih:{HASH}&xl={size}").size_bytes == 0
