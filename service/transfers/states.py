"""What a transfer may become.

queued ──> metadata ──> downloading ──> moving ──> done
  stalled, no_room <─── any of these, and back to each
  stopped ──> queued
  failed <─── each before done

An upload is done at once. `queued` is also what a stalled one becomes that could go on when all
places are taken, and `moving` leads back to `downloading` where the disk lost what had come.
"""

from service.models import Transfer

State = Transfer.State

LEADS_TO: dict[str, frozenset[str]] = {
    State.QUEUED: frozenset({State.METADATA, State.DOWNLOADING, State.MOVING}),
    State.METADATA: frozenset({State.QUEUED, State.DOWNLOADING, State.MOVING}),
    State.DOWNLOADING: frozenset({State.QUEUED, State.METADATA, State.MOVING}),
    State.STALLED: frozenset({State.QUEUED, State.METADATA, State.DOWNLOADING, State.MOVING}),
    State.NO_ROOM: frozenset({State.QUEUED, State.METADATA, State.DOWNLOADING, State.MOVING}),
    State.MOVING: frozenset({State.QUEUED, State.METADATA, State.DOWNLOADING, State.DONE}),
    State.STOPPED: frozenset({State.QUEUED}),
    State.DONE: frozenset(),
    State.FAILED: frozenset(),
}
LEADS_TO_TROUBLE = frozenset({State.STALLED, State.NO_ROOM, State.FAILED, State.STOPPED})

# Why: the words that may stand beside a state, which docs/api.md explains.
REASONS: dict[str, frozenset[str]] = {
    State.STALLED: frozenset(
        {"no_peers", "not_available", "nothing_comes", "retrying", "disk_error"}
    ),
    State.NO_ROOM: frozenset({"not_enough_space", "disk_full"}),
    State.FAILED: frozenset(
        {"invalid_torrent", "not_a_torrent", "parsing_error", "same_torrent", "fetch_error"}
        | {"address_refused", "too_large", "disk_error", "engine_crashed"}
    ),
}
# And those that stay true in any.
NOTICES = frozenset({"folder_gone", "web_page", "missing_files", "fetched_again"})

# These hold one of the places that ACTIVE_TRANSFERS counts.
IN_A_PLACE = frozenset({State.METADATA, State.DOWNLOADING})
# Somebody ran them, and whoever finds them without a worker goes on with them.
BEGUN = (State.METADATA, State.DOWNLOADING, State.STALLED, State.MOVING, State.NO_ROOM)


def may_become(state: str, other: str) -> bool:
    if state in Transfer.OVER:
        return False
    return other in LEADS_TO[state] or other in LEADS_TO_TROUBLE


def may_be_for(state: str, reason: str) -> bool:
    """Trouble has a reason, and nothing else has."""
    return reason in REASONS.get(state, {""})
