"""The page of the largest files of the whole library."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from webui.errors import answers as error_answers
from webui.files.pages.largest import largest_page
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.models import Role


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    if not service_of(request).is_embedded:
        text = _("The storage service can't list its largest files.")
        return error_answers.plain(request, 404, text=text)
    may_change = Role(request.user.role).includes(Role.MEMBER)
    page = largest_page(service_of(request).v1.largest_files(), may_change=may_change)
    return render(request, "files/largest.html", {"page": page})
