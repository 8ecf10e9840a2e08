"""A reader who holds a link and nothing else, in this process."""

import httpx

from config import upstream


def reader() -> httpx.Client:
    return httpx.Client(transport=upstream.transport(), base_url=upstream.URL)
