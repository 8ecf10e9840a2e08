"""Wait until a condition holds in a page, or hold back its requests.

Playwright's wait_for_function evaluates text in the page. The page's policy forbids that, except
in its first check: a test that uses it passes only if it has nothing to wait for.
"""

import re

from playwright.sync_api import Page, Route

PATIENCE_MS = 60_000


def until(page: Page, condition: str, value: object = None, state: str = "location.href") -> None:
    """Wait until the condition holds. Condition and state are expressions; both may use `value`."""
    page.evaluate(
        f"""(value) => new Promise((resolve, reject) => {{
            const late = performance.now() + {PATIENCE_MS};
            const look = () => {{
                if ({condition}) resolve();
                else if (performance.now() > late) reject(new Error(`Still: ${{{state}}}`));
                else setTimeout(look, 30);
            }};
            look();
        }})""",
        value,
    )


def hold(page: Page, url: str | re.Pattern[str]) -> list[Route]:
    """Hold back the requests to a URL, and return the list that they join."""
    held: list[Route] = []

    def join(route: Route) -> None:
        held.append(route)

    page.route(url, join)
    return held
