from collections.abc import Mapping

from django.http import JsonResponse


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JsonResponse:
    """The wire's one shape of a refusal, as `samples/ours/error.http404.json` has it."""
    body = {
        "result": False,
        "success": False,
        "code": status,
        "status_code": status,
        "reason_phrase": reason,
        "error": reason,
    }
    return JsonResponse(body, status=status, headers=headers)
