"""The service's wishlist, without the wishes that a person has hidden."""

from webui.connection.connection import Service
from webui.models import HiddenWish
from webui.v1.records import Account, Wish


def key_of(wish: Wish) -> str:
    """Return a wish's id, or its hash, since not every service sends ids. If both are missing,
    nothing can be done about the wish."""
    return wish.id or wish.hash or ""


def visible_wishes(service: Service, account: Account) -> list[Wish]:
    hidden = set(HiddenWish.objects.filter(connection=service.key).values_list("wish", flat=True))
    return [wish for wish in account.wishes if key_of(wish) not in hidden]


def hide(service: Service, account: Account, wish: Wish) -> None:
    """Hide a wish. Forget hidden wishes that the service no longer lists, so that they never
    outnumber its list."""
    keys = {key_of(each) for each in account.wishes}
    hidden = HiddenWish.objects.filter(connection=service.key)
    gone = [row.pk for row in hidden if row.wish not in keys]
    hidden.filter(pk__in=gone).delete()
    HiddenWish.objects.get_or_create(connection=service.key, wish=key_of(wish))
