"""Move and copy files and folders, and undo it."""

from collections.abc import Callable
from typing import cast, get_args

from service.api.archive_entries import read_selection
from service.api.auth import AccountRequest
from service.api.inputs import BatchInput, MoveOptions
from service.api.records import MoveResult, UndoResult
from service.http.refusals import UnreadableField
from service.library import moves
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
    result = act(request.account, chosen, options.folder_id, if_taken, request.now)
    return MoveResult(
        batch=result.batch,
        count=result.entries,
        taken=list(result.taken[:MOST_NAMES]),
        taken_count=len(result.taken),
    )


def undo(request: AccountRequest, sent: BatchInput) -> UndoResult:
    undone = moves.undo(request.account, sent.batch, request.now)
    return UndoResult(count=undone.entries, folder_ids=sorted(undone.folder_ids))
