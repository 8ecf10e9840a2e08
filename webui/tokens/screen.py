"""What several pages show about tokens."""

from webui.models import Token
from webui.tokens.page import TokenRow, token_row
from webui.words.formatting import Calendar


def tokens_of(**facts: object) -> list[TokenRow]:
    """Return the tokens with these facts, as the person to whom they belong sees them."""
    calendar = Calendar.now()
    return [token_row(each, calendar) for each in Token.objects.filter(**facts).order_by("pk")]


def everyones_tokens() -> list[TokenRow]:
    calendar = Calendar.now()
    rows = Token.objects.select_related("user").order_by("-pk")
    return [token_row(each, calendar, each.user.username) for each in rows]
