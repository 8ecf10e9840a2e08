"""The service's database rows, which must survive a restart."""

from service.models.accounts import Account, Guesses, KnownNetwork, Traffic, UploadPromise
from service.models.deleted import DeletedFile, DeletedFolder, DeletedItem, Discarded
from service.models.library import (
    LARGEST_ID,
    LINEAGE_DIGITS,
    File,
    Folder,
    Library,
    MovedEntry,
    lineage_end,
)
from service.models.limits import HALF_HOURS, Limits
from service.models.media import Media
from service.models.transfers import (
    ImportRecord,
    SavedFetch,
    TorrentFile,
    Transfer,
    TransferDetails,
    TransferFiles,
    Wish,
    wire_hash,
)
from service.models.workers import MediaWorker, Worker
