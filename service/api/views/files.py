"""Download, rename, and delete files, and list the largest."""

from service import signals
from service.api.auth import AccountRequest
from service.api.inputs import FileName
from service.api.outcomes import FileLink
from service.api.records import Changed, Largest, located_file_records
from service.content import signed_links
from service.http import responses
from service.library import deleted_items, library
from service.library.search import search
from service.models import File


def largest(request: AccountRequest) -> Largest:
    """List the largest files.

    This isn't in the specification, by which a client would have to read every folder.
    """
    files = search.largest_files(request.account)
    path_of = library.paths_of({file.folder_id for file in files})
    return Largest(files=located_file_records(files, path_of))


def download(request: AccountRequest, file_id: int) -> FileLink:
    """Redirect to a signed link, where clients repeat their `Range`.

    `inline=1` requests a link that shows the file in the browser, if its type is safe to show.
    """
    file = library.file(request.account, file_id)
    inline = request.GET.get("inline") == "1"
    link = signed_links.file_link(request.account, file, now=request.now, inline=inline)
    return responses.redirect_to(request, link)


def rename(request: AccountRequest, file_id: int, sent: FileName) -> Changed:
    library.rename_file(request.account, file_id, sent.rename_to, request.now)
    return Changed()


def delete(request: AccountRequest, file_id: int) -> Changed:
    name = deleted_items.delete_by_program(request.account, File, file_id, request.now)
    signals.deleted.send(File, request=request, name=name)
    return Changed()
