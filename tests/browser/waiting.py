"""Waiting until something is so in a page.

Playwright's wait_for_function evaluates text in the page, which the page's policy forbids,
except in its first look: a test that uses it passes only where it has nothing to wait for.
"""

from playwright.sync_api import Page

PATIENCE_MS = 60_000


def until(page: Page, condition: str, value: object = None, state: str = "location.href") -> None:
    """Condition and state are expressions; both may use the value."""
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
