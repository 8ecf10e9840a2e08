"""What the page needs to show the ways to add items from elsewhere."""

from django.urls import reverse

from webui.add.pages.from_elsewhere import FromElsewherePanel, from_elsewhere_panel, token_rows
from webui.http.requests import Request, is_secure_context
from webui.models import SendToken
from webui.words.formatting import Calendar


def load_from_elsewhere(request: Request) -> FromElsewherePanel:
    own = SendToken.objects.filter(user=request.user).order_by("pk")
    rows = own.values_list("pk", "name", "created_at", "used_at")
    calendar = Calendar.now()
    return from_elsewhere_panel(
        request.build_absolute_uri(reverse("add")),
        request.build_absolute_uri(reverse("send-token")),
        token_rows(rows, calendar),
        is_secure=is_secure_context(request),
    )
