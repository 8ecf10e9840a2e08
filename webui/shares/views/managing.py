"""See, change, and revoke links that exist."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.activity import events
from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Role, Share
from webui.people.device_addresses import device_addresses
from webui.shares import links
from webui.shares.form import ChangeForm
from webui.shares.page import player_paths, row_with_maker, share_row
from webui.words.formatting import Calendar

FROM_SERVER = "server"  # in the query of a link in the owners' list


@sensitive_post_parameters("password")
@open_to(Role.GUEST, "GET", "POST")
def change(request: Request, share: int) -> HttpResponse:
    """Show a link again to the person who made it, and change its terms for everyone at once."""
    row = links.find_own(request.user, share, timezone.now())
    if row is None or (request.method == "POST" and not has_terms(request, row)):
        raise Http404
    form = ChangeForm(row, request.POST if request.method == "POST" else None)
    if form.is_valid():
        now = timezone.now()
        terms = form.terms(now, takes_files=row.takes_files)
        if not links.change(row, terms, form.terms_to_keep(), now):
            raise Http404
        events.record(request, events.Kind.SHARE_CHANGED, terms.label or row.name)
        messages.success(request, _("Link changed"))
        return redirect("account-link", share)
    path, list_url = paths_of(row)
    shown = share_row(row, Calendar.now())
    page = {
        "title": shown.name,
        "share": shown,
        "addresses": device_addresses(request, path) if path else [],
        "list_url": list_url,
    }
    context = {"page": page, "form": form if has_terms(request, row) else None}
    return render(request, "shares/manage.html", context, status=422 if form.is_bound else 200)


def has_terms(request: Request, share: Share) -> bool:
    """Return whether this person may change the terms. Links for players have none."""
    return bool(share.folder) and Role(request.user.role).includes(Role.MEMBER)


def paths_of(share: Share) -> tuple[str, str]:
    """Return the path of the link, and that of its playlist if it's for players. Both are empty if
    Ferry can't show the link again."""
    token = share.decrypt_token()
    if token is None:
        return "", ""
    if share.folder:
        return reverse("share-page", args=[token]), ""
    return player_paths(token, share.kind, share.entry_id, share.name)


@open_to(Role.GUEST, "GET", "POST")
def revoke(request: Request, share: int) -> HttpResponse:
    """Ask, then revoke a link: one's own, or, as an owner, anyone's. Responses that have begun may
    finish."""
    back_url, back_label = list_of(request)
    row = links.find_revocable(request.user, share, timezone.now())
    if row is not None and request.method != "POST":
        shown = row_with_maker(row, row.user.username, Calendar.now())
        title = _("Revoke the link “%(name)s”?") % {"name": shown.name}
        page = {"title": title, "share": shown, "back_url": back_url, "back_label": back_label}
        return render(request, "shares/revoke.html", {"page": page})
    if row is None or not links.revoke(row):
        messages.error(request, _("This link had already ended."))
    else:
        events.record(request, events.Kind.SHARE_REVOKED, str(row))
        messages.success(request, _("Link revoked"))
    return redirect(back_url)


def list_of(request: Request) -> tuple[str, str]:
    """Return the URL and name of the list from which a person came."""
    if request.GET.get("from") == FROM_SERVER:
        return reverse("account-server", fragment="links"), _("Everyone's links")
    return reverse("account", fragment="shares"), _("Your links")
