"""What every view of shares begins with."""

from functools import wraps
from typing import cast

from django.http import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.http.requests import Request, service_of
from webui.http.roles import Params, SiteView
from webui.models import Role, Share
from webui.shares import links as share_links
from webui.shares.page import ShareRow, row_with_maker, share_row
from webui.words.formatting import Calendar


def hide_from_search(view: SiteView[Params]) -> SiteView[Params]:
    """Keep search engines from listing a link, whatever it answers."""

    @wraps(view)
    def wrapper(request: Request, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        response["X-Robots-Tag"] = "noindex"
        return response

    return cast("SiteView[Params]", wrapper)


def shares_of(request: Request) -> list[ShareRow]:
    """Return the links of a person, as the Account screen lists them."""
    calendar = Calendar.now()
    shares = share_links.list_valid(timezone.now(), user=request.user)
    return [share_row(each, calendar) for each in shares]


def everyones_shares(request: Request) -> list[ShareRow]:
    """Return the links of everyone, as owners see them on the Server screen."""
    calendar = Calendar.now()
    shares = share_links.list_valid(timezone.now())
    return [row_with_maker(each, each.user.username, calendar) for each in shares]


def find_page(request: Request, token: str) -> Share | None:
    """Return the link with this token if it opens a page, unless it has ended. The person who made
    it must still be allowed to make such links."""
    share = share_links.find_share(token, service_of(request).key, timezone.now())
    if share is None or not share.folder:
        return None
    return share if Role(share.user.role).includes(Role.MEMBER) else None


def ended_words() -> str:
    return _("This link has expired or was revoked.")
