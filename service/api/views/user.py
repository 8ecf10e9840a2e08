"""What an account can read about itself."""

from service.api.auth import AccountRequest
from service.api.records import Account, Settings, User
from service.http.records import wish_record
from service.models import Account as Owner
from service.transfers import transfers


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
