"""The account at the storage service: its plan and its wishlist."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse
from django.utils.translation import gettext as _

from webui.v1.errors import Failure
from webui.v1.records import Account, Wish
from webui.words.failures import message_of
from webui.words.formatting import Calendar, ago_words, more_words, size_words
from webui.words.joining import items, sentences

MOST_WISHES = 100


@dataclass(frozen=True)
class PlanPart:
    """The account. `failure` says why it isn't newer; `others` have the service's own labels."""

    failure: str = ""
    is_embedded: bool = False
    facts: Sequence[tuple[str, str]] = ()  # labels and values
    others: Sequence[tuple[str, str]] = ()
    wishes: Sequence[dict[str, object]] = ()
    more_wishes: str = ""

    @property
    def is_only_wishlist(self) -> bool:
        return self.is_embedded and not self.facts and not self.failure

    @property
    def title(self) -> str:
        return _("Wishlist") if self.is_only_wishlist else _("Storage account")

    @property
    def is_shown(self) -> bool:
        return bool(not self.is_embedded or self.facts or self.wishes or self.failure)


def plan_part(  # noqa: PLR0913  It decides what each kind of person sees.
    account: Account,
    wishes: Sequence[tuple[str, Wish]],
    calendar: Calendar,
    *,
    is_owner: bool,
    is_embedded: bool,
    failure: str = "",
) -> PlanPart:
    """Describe the account. Only owners see its name and the service's other facts.

    The account of Ferry's own service has a name and a plan only because v1 says so.
    """
    facts = [] if is_embedded and account.is_paid else facts_of(account, is_owner=is_owner)
    return PlanPart(
        failure=failure,
        is_embedded=is_embedded,
        facts=[(label, value) for label, value in facts if value],
        others=account.others if is_owner and not is_embedded else (),
        wishes=[wish_row(key, wish, calendar) for key, wish in wishes[:MOST_WISHES]],
        more_wishes=more_words(len(wishes) - MOST_WISHES),
    )


def aged_words(failure: Failure, age: timedelta) -> str:
    how_it_was = _("You're seeing the details from %(ago)s.") % {"ago": ago_words(age)}
    return sentences((message_of(failure).words, how_it_was))


def facts_of(account: Account, *, is_owner: bool) -> list[tuple[str, str]]:
    traffic = account.bandwidth_used_bytes
    return [
        (_("Signed in as"), account.name if is_owner else ""),
        (_("Plan"), plan_words(account)),
        (_("Traffic used"), size_words(traffic) if traffic else ""),
    ]


def plan_words(account: Account) -> str:
    room = account.space_max_bytes
    size = size_words(room) if room else ""
    paid = "" if account.is_paid else _("not paid for")
    return items((account.plan, size, paid))


def wish_row(key: str, wish: Wish, calendar: Calendar) -> dict[str, object]:
    since = calendar.words(wish.created_at)
    size = size_words(wish.size_bytes) if wish.size_bytes else ""
    return {
        "name": wish.name or _("Unnamed"),
        "note": items((size, since)),
        "retry_url": reverse("account-wish-retry", args=[key]) if key and wish.magnet else "",
        "forget_url": reverse("account-wish-forget", args=[key]) if key else "",
    }
