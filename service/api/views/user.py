"""What an account can read about itself."""

from service.accounts import traffic
from service.api.auth import AccountRequest
from service.api.inputs import TrafficInput
from service.api.records import (
    Account,
    Settings,
    TrafficOfAccount,
    TrafficPart,
    TransferTraffic,
    User,
)
from service.http.records import moment, wish_record
from service.http.refusals import UnreadableField
from service.models import Account as Owner
from service.transfers import transfers

MOST_TRANSFERS = 10_000


def show(request: AccountRequest, user_id: int | None = None) -> User:
    """Show the caller's account; the id in the path, from one specification of v1, is ignored."""
    owner = request.account
    return User(
        settings=Settings(),
        account=account_record(owner),
        username=owner.email,
        user_id=owner.pk,
        space_used=owner.space_used_bytes,
        space_max=owner.space_max_bytes,
        id=owner.pk,
    )


def show_traffic(request: AccountRequest, sent: TrafficInput) -> TrafficOfAccount:
    if sent.period not in traffic.PARTS:
        raise UnreadableField("period")
    parts = traffic.read(request.account, sent.period, request.now)
    added = transfers.added_since(request.account, parts[0][0], MOST_TRANSFERS)
    return TrafficOfAccount(
        parts=[TrafficPart(moment(start), *sizes) for start, sizes in parts],
        transfers=[
            TransferTraffic(pk, int(size_bytes * min(percent, 100) / 100), uploaded_bytes)
            for pk, size_bytes, percent, uploaded_bytes in added
        ],
    )


def account_record(owner: Owner) -> Account:
    is_paid = owner.kind == Owner.Kind.PAID
    return Account(
        username=owner.email,
        email=owner.email,
        user_id=owner.pk,
        premium=is_paid,
        package_id=3 if is_paid else 0,
        package_name="PRO" if is_paid else "FREE",
        space_max=owner.space_max_bytes,
        space_used=owner.space_used_bytes,
        wishlist=[wish_record(wish) for wish in transfers.wishes(owner)],
    )
