"""Relay films of a foreign service to players.

Guarantee: the site made each URL below `/stream/` from a response of the service, for one person,
one service, and some hours. The URL is encrypted, so it reveals nothing to others. The site isn't
an open proxy, since no one else can make such URLs. A target is checked when its URL is made, and
again, with each redirect, when the URL is used.
"""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.urls import reverse

from webui.contents import relayed_files
from webui.contents.content_check import UNKNOWN
from webui.http.content_types import KEPT, LOCKED_HEADERS, BrowserHandling
from webui.http.requests import Request, service_of
from webui.streams import playlists
from webui.streams.playlists import TargetKind
from webui.v1.errors import Unreadable
from webui.v1.links import Download
from webui.v1.records import BurnedSubtitles, Playable

LIFETIME = timedelta(hours=24)
# A request line holds at most 8,190 bytes, and Base64 turns three bytes into four characters.
LONGEST_URL = 5_000
PLAYLIST_TYPE = "application/vnd.apple.mpegurl"
PART_TYPES = frozenset({
    *("video/mp2t", "video/mp4", "video/iso.segment", "video/webm"),
    *("audio/mp4", "audio/aac", "audio/mpeg", "audio/x-aac", "audio/ac3", "text/vtt"),
})  # fmt: skip


@dataclass(frozen=True)
class StreamTarget:
    """Where a URL leads. URLs in a playlist expire with the playlist's own URL."""

    kind: TargetKind
    url: str
    expires_at: int  # seconds since 1970


# Sealing


def encrypt(part: StreamTarget, reader: list[bytes]) -> str:
    """Return a target's token, always the same one, so that a reloaded playlist names the same
    files."""
    url = part.url.encode()
    if len(url) > LONGEST_URL:
        raise Unreadable("bad_link")
    plain = part.kind.encode() + part.expires_at.to_bytes(8) + url
    encrypted = _cipher(settings.SECRET_KEY).encrypt(plain, reader)
    return base64.urlsafe_b64encode(encrypted).decode().rstrip("=")


def decrypt(token: str, reader: list[bytes], now: datetime) -> StreamTarget | None:
    """Return the target of a token, or None if the token isn't ours, isn't for this person and
    service, or has expired."""
    try:
        content = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)
        plain = _cipher(settings.SECRET_KEY).decrypt(content, reader)
    except (binascii.Error, ValueError, InvalidTag):
        return None
    kind, expires_at = TargetKind(plain[:1].decode()), int.from_bytes(plain[1:9])
    is_over = expires_at <= now.timestamp()
    return None if is_over else StreamTarget(kind, plain[9:].decode(), expires_at)


@cache
def _cipher(secret: str) -> AESSIV:
    derive = HKDF(algorithm=SHA256(), length=64, salt=None, info=b"ferry streams")
    return AESSIV(derive.derive(secret.encode()))


# URLs for players


def playable(
    request: Request, answer: Playable | BurnedSubtitles, file: str, kind: str, now: datetime
) -> str:
    """Return our URL for a foreign service's response to hls or mp4."""
    is_film = kind == "mp4"
    if is_film and not answer.url:
        raise Unreadable("bad_link")
    url = answer.url or service_of(request).v1.hls_url(file)
    target_kind = TargetKind.PART if is_film else TargetKind.PLAYLIST
    expires_at = int((now + LIFETIME).timestamp())
    link = service_of(request).v1.link_to(url, url)
    token = encrypt(StreamTarget(target_kind, link, expires_at), reader_of(request))
    return reverse("stream-part", args=[token])


def reader_of(request: Request) -> list[bytes]:
    """Return the person and service that URLs are made for."""
    return [str(request.user.pk).encode(), service_of(request).key.encode()]


# Responses to players


def answer(request: Request, part: StreamTarget) -> HttpResponseBase:
    if part.kind is TargetKind.PART:
        return bytes_of(request, part)
    return playlist_of(request, part)


def playlist_of(request: Request, part: StreamTarget) -> HttpResponseBase:
    slot = relayed_files.slots.take()
    if slot is None:
        return relayed_files.busy()
    try:
        download = service_of(request).v1.open(part.url)
        content = service_of(request).v1.whole(download, playlists.MOST_BYTES)
    finally:
        slot.give_back()
    text = playlists.rewrite(content, part.kind, addresses(request, part, download.url))
    headers = LOCKED_HEADERS | {"Cache-Control": "private, no-store"}
    return HttpResponse(text, content_type=PLAYLIST_TYPE, headers=headers)


def addresses(request: Request, above: StreamTarget, page: str) -> playlists.Address:
    """Return a function that makes relative URLs, since the playlist itself is below `/stream/`,
    whatever the prefix."""
    reader, client = reader_of(request), service_of(request).v1

    def address(reference: str, kind: TargetKind) -> str:
        url = client.link_to(reference, page)
        return encrypt(StreamTarget(kind, url, above.expires_at), reader)

    return address


def bytes_of(request: Request, part: StreamTarget) -> HttpResponseBase:
    opening = partial(service_of(request).v1.open, part.url)
    return relayed_files.show(request, opening, as_part, UNKNOWN)


def as_part(download: Download) -> BrowserHandling:
    """Keep the service's content type if browsers can't run it, or else a generic one."""
    plain = download.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return KEPT._replace(content_type=plain) if plain in PART_TYPES else KEPT
