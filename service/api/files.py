"""Files: download, rename, delete."""

from django.http import HttpResponse

from service import library, links, signals
from service.api import answers, bodies
from service.api.errors import Missing
from service.api.http import Request
from service.models import File


def download(request: Request, file_id: int) -> HttpResponse:
    """A `Range` sent here goes along with the redirect: the content's own address answers it.
    `inline=1` wishes for a link that shows the file, where its type is safe to show."""
    file = library.file(request.account, file_id)
    inline = request.GET.get("inline") == "1"
    link = links.file_link(request.account, file, now=request.now, inline=inline)
    return answers.leads_to(request, link)


def rename(request: Request, file_id: int) -> HttpResponse:
    name = bodies.fields_of(request).text("rename_to", "name")
    if name is None:
        raise Missing("rename_to")
    library.rename_file(request.account, file_id, name, request.now)
    return answers.changed()


def delete(request: Request, file_id: int) -> HttpResponse:
    name = library.delete_file(request.account, file_id, request.now)
    signals.deleted.send(File, request=request, name=name)
    return answers.changed()
