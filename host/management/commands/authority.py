from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding
from django.core.management.base import BaseCommand, CommandError

from host.tls import certificate


class Command(BaseCommand):
    help = "Prints the root certificate that devices import to trust Ferry's https, as PEM."
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            root = certificate.load_authority().root
        except (OSError, ValueError) as trouble:
            raise CommandError(str(trouble)) from None
        self.stdout.write(root.public_bytes(Encoding.PEM).decode(), ending="")
