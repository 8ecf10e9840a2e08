"""Move and copy files and folders, and undo it."""

from collections.abc import Callable
from typing import cast, get_args

from msgspec import UNSET

from service.api.archive_entries import read_selection
from service.api.auth import AccountRequest
from service.api.inputs import BatchInput, MoveOptions
from service.api.records import MoveResult, UndoResult
from service.http.refusals import UnreadableField
from service.library import moves
from service.library import names as library_names
from service.library.moves import IfTaken

MOST_NAMES = 100


def move(request: AccountRequest) -> MoveResult:
    return put(request, moves.move)


def copy(request: AccountRequest) -> MoveResult:
    return put(request, moves.copy)


def put(request: AccountRequest, act: Callable[..., moves.Moved]) -> MoveResult:
    chosen, fields = read_selection(request)
    options = fields.read(MoveOptions)
    if options.if_taken not in get_args(IfTaken):
        raise UnreadableField("if_taken")
    if_taken = cast("IfTaken", options.if_taken)
    names = None if options.name is UNSET else new_names(chosen, options.name)
    result = act(request.account, chosen, options.folder_id, if_taken, request.now, names=names)
    return MoveResult(
        batch=result.batch,
        count=result.entries,
        taken=list(result.taken[:MOST_NAMES]),
        taken_count=len(result.taken),
    )


def new_names(chosen: moves.Chosen, name: str) -> moves.NewNames:
    """Return the name for the only entry. Raises BadName."""
    keys = [(True, pk) for pk in chosen.folder_ids] + [(False, pk) for pk in chosen.file_ids]
    if len(keys) != 1:
        raise UnreadableField("name")
    library_names.check(name)
    return {keys[0]: name}


def undo(request: AccountRequest, sent: BatchInput) -> UndoResult:
    undone = moves.undo(request.account, sent.batch, request.now)
    return UndoResult(count=undone.entries, folder_ids=sorted(undone.folder_ids))
