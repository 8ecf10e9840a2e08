"""Send the items of a form to the service."""

from django.utils import timezone
from django.utils.translation import gettext as _

from webui.add import parse
from webui.add import send as add_send
from webui.add.form_body import Submission
from webui.add.parse import Intake
from webui.add.send import Batch, Errand
from webui.http.requests import Request, service_of
from webui.library.entries import ROOT
from webui.models import User
from webui.transfers import actions


def errand_of(request: Request, folder: str, by: User | None = None) -> Errand:
    is_elsewhere = service_of(request).takes_folder and folder not in ("", ROOT)
    return Errand(
        service_of(request), by or request.user, folder if is_elsewhere else None, timezone.now()
    )


def deliver_items(
    request: Request, submission: Submission, by: User | None = None
) -> tuple[Intake, Batch]:
    intake = parse.parse_lines(submission.text)
    items = intake.items
    if len(items) == 1:
        items = [parse.add_name(items[0], submission.title)]
    batch = add_send.send(errand_of(request, submission.folder, by), items)
    if any(result.is_well for result in submission.results + batch.results):
        actions.mark_changed(service_of(request))
    return intake, batch


def nothing_words() -> str:
    return _("Paste a link or choose a file first.")


def left_lines(intake: Intake, batch: Batch) -> list[str]:
    return [item.line for item in batch.left] + intake.rest.splitlines()
