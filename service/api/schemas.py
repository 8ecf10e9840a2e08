"""The shapes of answers, for the description. A test holds the answers against them."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer", "format": "int64"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "description": "YYYY-MM-DD HH:MM:SS, in UTC"}


def maybe(schema: Schema) -> Schema:
    return {**schema, "nullable": True}


def several(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def a(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def thing(optional: Schema | None = None, **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
    }


SPACE = {"space_max": WHOLE, "space_used": WHOLE, "space_scope": TEXT}
SPEEDS = {"download_rate": WHOLE, "upload_rate": WHOLE}
PEERS = dict.fromkeys(
    ("seeders", "leechers", "connected_to", "downloading_from", "uploading_to"), WHOLE
)
OUTCOME = {
    "folder_created": maybe(WHOLE),
    "file_created": maybe(WHOLE),
    "state": TEXT,
    "reason": maybe(TEXT),
}
DONE = {"result": FLAG, "code": WHOLE}
OF_TRANSFERS = {
    "id": WHOLE,
    "name": TEXT,
    "size": WHOLE,
    "hash": TEXT,
    "progress": NUMBER,
    "stopped": WHOLE,
    "warnings": TEXT,
    "torrent_quality": WHOLE,
    "last_update": TIME,
    **SPEEDS,
    **PEERS,
    **OUTCOME,
}
MEDIA_FLAGS = dict.fromkeys(
    ("is_video", "is_audio", "play_video", "play_audio", "stream_video", "stream_audio"), FLAG
)

SCHEMAS: Schema = {
    "Folder": thing(id=WHOLE, path=TEXT, name=TEXT, fullname=TEXT, size=WHOLE, last_update=TIME),
    "File": thing(
        {"video_converted": TEXT, "duration": NUMBER, "width": WHOLE, "height": WHOLE},
        id=WHOLE,
        name=TEXT,
        size=WHOLE,
        hash=TEXT,
        folder_id=WHOLE,
        last_update=TIME,
        thumb=maybe(TEXT),
        presentation_urls={"type": "object"},
        **MEDIA_FLAGS,
    ),
    "ListedTransfer": thing(folder=TEXT, **OF_TRANSFERS),
    "Listing": thing(
        id=WHOLE,
        name=TEXT,
        path=TEXT,
        fullname=TEXT,
        parent=WHOLE,
        parent_id=WHOLE,
        size=WHOLE,
        timestamp=TIME,
        type=TEXT,
        saw_walkthrough=WHOLE,
        folders=several(a("Folder")),
        files=several(a("File")),
        torrents=several(a("ListedTransfer")),
        transfers=several(a("ListedTransfer")),
        tasks=several({}),
        album_groups=several({}),
        indexes=several({}),
        **SPACE,
        **DONE,
    ),
    "Transfer": thing(
        node_id=TEXT,
        folder_created_id=maybe(WHOLE),
        folder_id=WHOLE,
        unwanted=TEXT,
        type=TEXT,
        speed=WHOLE,
        parent=WHOLE,
        timestamp=TIME,
        title=TEXT,
        **OF_TRANSFERS,
        **SPACE,
        **DONE,
    ),
    "Transfers": thing(
        torrents=several(a("ListedTransfer")), transfers=several(a("ListedTransfer")), **DONE
    ),
    "Added": thing(
        success=FLAG,
        status_code=WHOLE,
        id=WHOLE,
        user_torrent_id=WHOLE,
        title=TEXT,
        name=TEXT,
        torrent_hash=TEXT,
        **DONE,
    ),
    "Created": thing(success=FLAG, id=TEXT, path=TEXT, **DONE),
    "Changed": thing(success=FLAG, **DONE),
    "Hidden": thing(language=TEXT, title=TEXT, codec=TEXT),
    "Playable": thing(
        {"converting": FLAG, "progress": NUMBER, "subtitles_not_shown": several(a("Hidden"))},
        url=TEXT,
        **DONE,
    ),
    "Wish": thing(
        id=WHOLE,
        user_id=WHOLE,
        title=TEXT,
        size=WHOLE,
        torrent_hash=TEXT,
        torrent_magnet=TEXT,
        torrent_meta=maybe(TEXT),
        created=TIME,
        added=WHOLE,
        is_private=WHOLE,
    ),
    "User": thing(
        settings={"type": "object"},
        account=thing(
            username=TEXT,
            email=TEXT,
            user_id=WHOLE,
            premium=FLAG,
            package_id=WHOLE,
            package_name=TEXT,
            bandwidth_used=WHOLE,
            wishlist=several(a("Wish")),
            invites=WHOLE,
            invites_accepted=WHOLE,
            max_invites=WHOLE,
            **SPACE,
        ),
        country=TEXT,
        success=FLAG,
        username=TEXT,
        user_id=WHOLE,
        space_used=WHOLE,
        space_max=WHOLE,
        bandwidth_used=WHOLE,
        id=WHOLE,
        **DONE,
    ),
    "Refusal": thing(
        {
            "wt": a("Wish"),
            "entry": WHOLE,
            "message": TEXT,
        },
        # A word where a wish was kept, as older clients read it.
        result={"oneOf": [FLAG, TEXT]},
        success=FLAG,
        code=WHOLE,
        status_code=WHOLE,
        reason_phrase=TEXT,
        error=TEXT,
    ),
}
