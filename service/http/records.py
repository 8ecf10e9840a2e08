"""The record of a refusal, and the records in it."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from service import models

Whole = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Time = Annotated[str, Meta(description="YYYY-MM-DD HH:MM:SS, in UTC")]


def moment(at: datetime) -> str:
    """Format a time from the database, which is in UTC, without its offset."""
    return str(at)[:19]


class Wish(Struct, kw_only=True):
    """A torrent that didn't fit, kept until it does."""

    id: Whole
    user_id: Whole
    title: str
    size: Whole
    torrent_hash: str
    torrent_magnet: str
    torrent_meta: str | None = None
    created: Time
    added: Whole = 0
    is_private: Whole


def wish_record(wish: models.Wish) -> Wish:
    return Wish(
        id=wish.pk,
        user_id=wish.account_id,
        title=wish.title,
        size=wish.size_bytes,
        torrent_hash=wish.wire_hash,
        torrent_magnet=wish.magnet,
        created=moment(wish.created_at),
        is_private=int(wish.is_private),
    )


class Refusal(Struct, kw_only=True):
    result: Annotated[bool | str, Meta(description="A word where a torrent didn't fit")] = False
    success: bool = False
    code: Whole
    status_code: Whole
    reason_phrase: Annotated[str, Meta(description="Why, in one word, such as not_found")]
    error: Annotated[str, Meta(description="The same as reason_phrase")]
    wt: Annotated[Wish | UnsetType, Meta(description="The torrent, where it was kept")] = UNSET
    entry: Annotated[Whole | UnsetType, Meta(description="Which one of archive_arr")] = UNSET
    message: Annotated[str | UnsetType, Meta(description="More, for people")] = UNSET
