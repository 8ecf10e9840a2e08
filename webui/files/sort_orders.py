"""The order in which a person last sorted a folder. Folders inside it inherit the order, unless
the person has sorted them as well."""

from collections.abc import Sequence

from common.storage import row_cache
from webui.connection.connection import Service
from webui.models import SortOrder, User

MOST_ORDERS = 500


def order_of(user: User, service: Service, folders: Sequence[str]) -> str:
    """Return the order of the first of these folders that has one. Each is inside the next."""

    def load() -> dict[str, str]:
        orders = SortOrder.objects.filter(user=user, service=service.key)
        return dict(orders.values_list("folder", "sort"))

    orders = row_cache.read(("sort orders", user.pk, service.key), load)
    return next((orders[folder] for folder in folders if folder in orders), "name")


def remember(user: User, service: Service, folder: str, sort: str) -> None:
    """Remember an order, and forget the oldest of too many."""
    SortOrder.objects.update_or_create(
        user=user, service=service.key, folder=folder, defaults={"sort": sort}
    )
    orders = SortOrder.objects.filter(user=user).order_by("-pk")
    old = list(orders.values_list("pk", flat=True)[MOST_ORDERS:])
    SortOrder.objects.filter(pk__in=old).delete()
