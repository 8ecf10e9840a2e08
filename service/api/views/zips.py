"""Build one ZIP of any files and folders."""

from service.api.archive_entries import read_selection
from service.api.auth import AccountRequest
from service.api.inputs import ZipOptions
from service.api.outcomes import ArchiveLink
from service.content import archive_plans
from service.http import responses
from service.library import names


def build(request: AccountRequest) -> ArchiveLink:
    chosen, fields = read_selection(request)
    name = names.clean(fields.read(ZipOptions).name or "", "Files")
    link = archive_plans.create_link(request.account, *chosen, name, now=request.now)
    return responses.redirect_to(request, link)
