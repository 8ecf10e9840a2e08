"""Find files and folders in the whole library."""

import re
from datetime import timedelta

from msgspec import UNSET

from service.api.auth import AccountRequest
from service.api.inputs import SearchInput
from service.api.records import SearchResults, located_file_records, located_folder_record
from service.library import library
from service.library.search import search
from service.library.search.search import Limits, Search

# A suffix is one word of the index.
SUFFIX = re.compile("[a-z0-9]{1,20}")
MOST_SUFFIXES = 50
MOST_DAYS = 36_500


def show(request: AccountRequest, sent: SearchInput) -> SearchResults:
    """Find entries whose names contain every word. This isn't in the specification."""
    limits = Limits(
        suffixes=tuple(SUFFIX.findall(sent.types.lower()))[:MOST_SUFFIXES],
        least_bytes=sent.min_size,
        most_bytes=None if sent.max_size is UNSET else sent.max_size,
        since=None if sent.days is UNSET else request.now - timedelta(min(sent.days, MOST_DAYS)),
    )
    most = min(sent.limit, search.MOST_FOUND)
    below = library.folder(request.account, sent.folder_id) if sent.folder_id else None
    matches = search.find(Search(request.account, sent.q, limits, most, sent.only or "", below))
    folder_ids = {folder.parent_id or 0 for folder in matches.folders}
    path_of = library.paths_of(folder_ids | {file.folder_id for file in matches.files})
    # A folder that was deleted between the queries took the folders in it along.
    return SearchResults(
        folders=[
            located_folder_record(each, path_of[each.parent_id])
            for each in matches.folders
            if each.parent_id in path_of
        ],
        files=located_file_records(matches.files, path_of),
        has_more=matches.has_more,
        count=matches.total,
        has_uncounted=matches.has_uncounted,
    )
