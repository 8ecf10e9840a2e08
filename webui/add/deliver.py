"""Read a form, and send its items to the service."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.add import form_body, parse
from webui.add import send as add_send
from webui.add.pages.outcomes import ItemResult
from webui.http.requests import Request
from webui.models import User
from webui.transfers import actions


@dataclass(frozen=True)
class Delivery:
    """What became of a form's items. `left`: lines not tried yet. `failure`: why they'd fail."""

    folder: str
    results: list[ItemResult]
    left: list[str]
    failure: str

    @property
    def kept(self) -> list[str]:
        """Return the lines to put back into the field for another try."""
        return [result.line for result in self.results if result.line]


def deliver_items(request: Request, bearer: User | None = None) -> Delivery:
    """Send what a form contains. Raises UploadRefused."""
    form_input = form_body.read_form_input(request, bearer)
    parsed_text = parse.parse_lines(form_input.text)
    items = parsed_text.items
    if len(items) == 1:
        items = [parse.add_name(items[0], form_input.title)]
    context = form_body.send_context_of(request, form_input.folder, bearer)
    send_result = add_send.send(context, items)
    results = form_input.results + send_result.results
    if any(result.is_well for result in results):
        actions.mark_changed(context.service)
    left = [item.line for item in send_result.left] + parsed_text.rest.splitlines()
    return Delivery(form_input.folder, results, left, send_result.failure)


def nothing_words() -> str:
    return _("Paste a link or choose a file first.")
