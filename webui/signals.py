"""Events that the rest of this process may record."""

from django.dispatch import Signal

# Sent after each call of v1, with its `seconds` and its `failure`, or None.
service_called = Signal()
