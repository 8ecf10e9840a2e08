"""Unpack a ZIP file of the library, and undo it."""

from service.api.auth import AccountRequest
from service.api.inputs import UnpackingInput
from service.api.records import Added, UndoResult, added_record
from service.transfers import unpacking


def unpack(request: AccountRequest, file_id: int) -> Added:
    return added_record(unpacking.unpack(request.account, file_id, request.now))


def undo(request: AccountRequest, sent: UnpackingInput) -> UndoResult:
    undone = unpacking.undo(request.account, sent.transfer_id, request.now)
    return UndoResult(count=undone.entries, folder_ids=sorted(undone.folder_ids))
