"""Events that the rest of this process may record."""

from django.dispatch import Signal

# The sender is the model of what a request deleted; sent with that request and the former name.
deleted = Signal()
# Sent for each wrong password that counts, with the account's email, if any, and the address.
password_failed = Signal()
# Sent after each request to the worker for media: its `kind`, `seconds`, and `failure` or None.
media_requested = Signal()
# Sent when a transfer is done or has failed, with its `state`.
transfer_ended = Signal()
