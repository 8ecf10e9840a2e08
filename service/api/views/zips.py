"""Build one ZIP of any files and folders."""

from service.api.archive_entries import selection_of
from service.api.inputs import ZipOptions
from service.api.outcomes import ArchiveLink
from service.api.requests import AccountRequest
from service.content import archive_plans
from service.http import bodies, responses
from service.library import names

# 10,000 entries in bracket form, percent-encoded, take 1.2 MB.
MOST_BYTES = 4 * 2**20
NAME = "Files"


def build(request: AccountRequest) -> ArchiveLink:
    fields = bodies.fields_of(request, MOST_BYTES)
    folder_ids, file_ids = selection_of(fields.pairs)
    name = names.clean(fields.read(ZipOptions).name or "", NAME)
    link = archive_plans.create_link(request.account, folder_ids, file_ids, name, now=request.now)
    return responses.redirect_to(request, link)
