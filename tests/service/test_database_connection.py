"""Threads that wait for something else hold no connection to a database server."""

import pytest
from django.db import connection, transaction

from common.storage import database_connection
from service.errors import NoWorker
from service.media.serving import requests

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


def test_a_connection_is_given_back_but_never_amid_a_transaction():
    connection.ensure_connection()
    with transaction.atomic():
        database_connection.give_back()
        assert connection.connection is not None
    database_connection.give_back()
    assert connection.connection is None


def test_waiting_for_the_worker_holds_no_connection(library_folder):
    connection.ensure_connection()
    with pytest.raises(NoWorker):
        requests.ask("picture", 1)
    assert connection.connection is None
