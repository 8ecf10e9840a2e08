"""The request that every view of the API receives."""

from datetime import datetime

from django.http import HttpRequest

from service.models import Account


class AccountRequest(HttpRequest):
    """A request with its account and the time when it began."""

    account: Account
    now: datetime
