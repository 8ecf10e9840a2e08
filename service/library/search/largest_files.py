"""The largest files of an account."""

from service.models import Account, File

MOST_LARGEST = 100


def largest_files(account: Account) -> list[File]:
    """Return the largest files of the whole library; of equals, the newer one first."""
    return list(File.objects.filter(account=account).order_by("-size_bytes", "-pk")[:MOST_LARGEST])
