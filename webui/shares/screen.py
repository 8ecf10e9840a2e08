"""The links of a person, as the Account screen lists them."""

from django.utils import timezone

from webui.formatting import Calendar
from webui.http.requests import Request
from webui.shares import links as share_links
from webui.shares.page import ShareRow, share_rows


def shares_of(request: Request) -> list[ShareRow]:
    calendar = Calendar(timezone.now(), timezone.get_current_timezone())
    return share_rows(share_links.of(request.user, timezone.now()), calendar)
