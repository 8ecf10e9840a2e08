"""The account, as it is told about itself."""

from django.http import HttpResponse

from service import transfers
from service.api import answers
from service.api.http import Request
from service.api.records import space_record, wish_record
from service.models import Account


def show(request: Request, user_id: int | None = None) -> HttpResponse:
    """One listing of v1 names an id. Whichever it is, the only account to see is one's own."""
    account = request.account
    flat = {
        "username": account.email,
        "user_id": account.pk,
        "space_used": account.space_used_bytes,
        "space_max": account.space_max_bytes,
        "bandwidth_used": 0,
        "id": account.pk,
    }
    nested = {"settings": SETTINGS, "account": account_record(account), "country": ""}
    return answers.record(nested | {"result": True, "code": 200, "success": True} | flat)


SETTINGS = {
    "allow_remote_access": 1,
    "site_language": "en",
    "subtitles_language": "eng",
    "email_announcements": 0,
    "email_newsletter": 0,
}


def account_record(account: Account) -> dict[str, object]:
    is_paid = account.kind == Account.Kind.PAID
    return {
        "username": account.email,
        "email": account.email,
        "user_id": account.pk,
        "premium": is_paid,
        "package_id": 3 if is_paid else 0,
        "package_name": "PRO" if is_paid else "FREE",
        **space_record(account),
        "bandwidth_used": 0,
        "wishlist": [wish_record(wish) for wish in transfers.wishes(account)],
        "invites": 0,
        "invites_accepted": 0,
        "max_invites": 0,
    }
