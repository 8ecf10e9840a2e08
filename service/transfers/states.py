"""The states of a transfer, and which may follow which.

queued ──> metadata ──> downloading ──> moving ──> done
  stalled, no_room <─── any of these, and back to each
  stopped <──> queued; any of these before moving may be stopped, by people or to ask them
  failed <─── any state before done

An upload is done at once. A stalled transfer that could continue goes back to `queued` if all slots
are taken, and `moving` goes back to `downloading` if the disk lost what had arrived.
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

# Why a transfer stopped, unless a person paused it.
CHOOSE_FILES = "choose_files"
# The reasons that a worker may give a state; docs/api.md explains them.
REASONS: dict[str, frozenset[str]] = {
    State.STALLED: frozenset(
        {"no_peers", "not_available", "nothing_comes", "retrying", "disk_error"}
    ),
    State.NO_ROOM: frozenset({"not_enough_space", "disk_full"}),
    State.STOPPED: frozenset({CHOOSE_FILES}),
    State.FAILED: frozenset(
        {"invalid_torrent", "not_a_torrent", "parsing_error", "same_torrent", "fetch_error"}
        | {"address_refused", "too_large", "disk_error", "engine_crashed"}
        | {"zip_damaged", "zip_empty", "zip_encrypted", "zip_gone"}
        | {"zip_too_large", "zip_unsupported"}
    ),
}
# The notices, which stay true in any state.
NOTICES = frozenset({"folder_gone", "web_page", "missing_files", "fetched_again", "started_over"})

# States that take one of the slots that ACTIVE_TRANSFERS counts.
WITH_SLOT = frozenset({State.METADATA, State.DOWNLOADING})
# States of transfers that a worker has begun: if they have no worker, any worker continues them.
BEGUN = (State.METADATA, State.DOWNLOADING, State.STALLED, State.MOVING, State.NO_ROOM)

# Transfers with these reasons have no reserved space, even while they are paused or queued.
WITHOUT_SPACE = REASONS[State.NO_ROOM]

# People can't pause what is whole, since nothing more arrives.
PAUSABLE = frozenset(
    {State.QUEUED, State.METADATA, State.DOWNLOADING, State.STALLED, State.NO_ROOM}
)


def may_become(state: str, other: str) -> bool:
    if state in Transfer.OVER:
        return False
    return other in LEADS_TO[state] or other in LEADS_TO_TROUBLE


def may_be_for(state: str, reason: str) -> bool:
    """Return whether a state may have this reason: those in REASONS need one, others have none.

    What people pause needs none, either.
    """
    is_paused = state == State.STOPPED and not reason
    return is_paused or reason in REASONS.get(state, {""})
