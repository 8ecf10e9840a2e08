"""What every view of the API knows about a request."""

from datetime import datetime

from django.http import HttpRequest

from service.models import Account


class AccountRequest(HttpRequest):
    """A request of somebody with an account."""

    account: Account
    now: datetime
