"""The site's own data. Files and folders belong to the service."""

from common.passwords import digest_of
from webui.models.activity import Activity
from webui.models.drive import DriveLock, DriveProperties
from webui.models.files import HeldDelete, Selection, SortOrder, Watched
from webui.models.notices import Channel, Notice
from webui.models.people import Role, User
from webui.models.search import IndexedEntry, IndexedFolder, NameIndex
from webui.models.server import Connection, OwnerSetting, ProgramPassword, Release
from webui.models.shares import HeldBytes, Share
from webui.models.signin import (
    Device,
    OneTimeLink,
    Pairing,
    Reservation,
    Throttle,
    Token,
    token_purpose,
)
from webui.models.transfers import Category, HiddenWish, Sent
from webui.models.uploads import ResumableUpload
