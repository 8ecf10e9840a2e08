"""Send the items of a form to the service."""

from django.utils import timezone
from django.utils.translation import gettext as _

from webui.add import parse
from webui.add import send as add_send
from webui.add.form_body import FormInput
from webui.add.parse import ParsedText
from webui.add.send import SendContext, SendResult
from webui.http.requests import Request, service_of
from webui.library.entries import ROOT
from webui.models import User
from webui.transfers import actions


def send_context_of(request: Request, folder: str, by: User | None = None) -> SendContext:
    is_elsewhere = service_of(request).takes_folder and folder not in ("", ROOT)
    return SendContext(
        service_of(request), by or request.user, folder if is_elsewhere else None, timezone.now()
    )


def deliver_items(
    request: Request, form_input: FormInput, by: User | None = None
) -> tuple[ParsedText, SendResult]:
    parsed_text = parse.parse_lines(form_input.text)
    items = parsed_text.items
    if len(items) == 1:
        items = [parse.add_name(items[0], form_input.title)]
    send_result = add_send.send(send_context_of(request, form_input.folder, by), items)
    if any(result.is_well for result in form_input.results + send_result.results):
        actions.mark_changed(service_of(request))
    return parsed_text, send_result


def nothing_words() -> str:
    return _("Paste a link or choose a file first.")


def left_lines(parsed_text: ParsedText, send_result: SendResult) -> list[str]:
    return [item.line for item in send_result.left] + parsed_text.rest.splitlines()
