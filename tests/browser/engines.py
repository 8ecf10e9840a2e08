"""Drive Firefox by WebDriver BiDi, and WebKitGTK by WebDriver Classic.

Neither may connect to anything but this machine.
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from tests.running import STOP_SECONDS, Output, free_port, launch
from tests.service.media.waiting import wait_until
from tests.tools import program

START_SECONDS = 60
ANSWER_SECONDS = 60
HEIGHT = 800
# Nothing listens at this proxy, so requests to other machines fail.
DEAD_HOST, DEAD_PORT = "127.0.0.1", 9
NEAR = "localhost,127.0.0.1"
# For WebKit's environment. As capabilities, they sometimes crash it: since the change for its bug
# 283418, WebKit reads beyond the end of "noProxy", and a driver without its browser never answers.
PROXIES = {
    "http_proxy": f"http://{DEAD_HOST}:{DEAD_PORT}",
    "https_proxy": f"http://{DEAD_HOST}:{DEAD_PORT}",
    "no_proxy": NEAR,
}
KEYS = {"Escape": "\ue00c", "Enter": "\ue007"}
# Otherwise, WebKit's toolbar keeps its window wider than a phone.
NARROW = "* { min-width: 0; margin: 0; border-width: 0; padding: 0; }"
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    # Even behind the proxy, Firefox would look up the address of its settings server.
    "network.dns.disabled": True,
    "network.proxy.http": DEAD_HOST,
    "network.proxy.http_port": DEAD_PORT,
    "network.proxy.no_proxies_on": NEAR,
    "network.proxy.ssl": DEAD_HOST,
    "network.proxy.ssl_port": DEAD_PORT,
    "network.proxy.type": 1,
}


class Driver:
    """The operations that journeys use in both browsers."""

    def open(self, url: str) -> None:
        raise NotImplementedError

    def resize(self, width: int) -> None:
        raise NotImplementedError

    def screenshot(self) -> str:
        """Return a PNG in base 64."""
        raise NotImplementedError

    def _evaluate(self, expression: str) -> str:
        raise NotImplementedError

    def _perform(self, kind: str, actions: list[dict[str, Any]]) -> None:
        raise NotImplementedError

    def evaluate(self, expression: str) -> Any:
        return json.loads(self._evaluate(f"JSON.stringify(({expression}) ?? null)"))

    def until(self, condition: str) -> None:
        wait_until(lambda: self.evaluate(condition), seconds=60, pause_seconds=0.05)

    def click(self, selector: str, across: float = 0.5) -> None:
        """Click on the first visible match, at this share of its width."""
        every = f"[...document.querySelectorAll({json.dumps(selector)})]"
        shown = f"{every}.find((each) => each.checkVisibility())"
        self.until(f"{shown} !== undefined")
        box = self.evaluate(f"{shown}.getBoundingClientRect()")
        x, y = box["x"] + across * box["width"], box["y"] + box["height"] / 2
        self.click_at(round(x), round(y))

    def click_at(self, x: int, y: int) -> None:
        move = {"type": "pointerMove", "x": x, "y": y, "duration": 0}
        press = [{"type": each, "button": 0} for each in ("pointerDown", "pointerUp")]
        self._perform("pointer", [move, *press])

    def type(self, text: str) -> None:
        kinds = ("keyDown", "keyUp")
        self._perform("key", [{"type": kind, "value": key} for key in text for kind in kinds])

    def press(self, key: str) -> None:
        self.type(KEYS[key])


class Firefox(Driver):
    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._count = 0
        self._send("session.new", capabilities={})
        (tab,) = self._send("browsingContext.getTree")["contexts"]
        self._tab = tab["context"]

    def open(self, url: str) -> None:
        self._send("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def resize(self, width: int) -> None:
        viewport = {"width": width, "height": HEIGHT}
        self._send("browsingContext.setViewport", context=self._tab, viewport=viewport)

    def screenshot(self) -> str:
        return self._send("browsingContext.captureScreenshot", context=self._tab)["data"]

    def _evaluate(self, expression: str) -> str:
        target = {"context": self._tab}
        answer = self._send(
            "script.evaluate", expression=expression, target=target, awaitPromise=True
        )
        assert answer["type"] == "success", answer
        return answer["result"]["value"]

    def _perform(self, kind: str, actions: list[dict[str, Any]]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self._send("input.performActions", context=self._tab, actions=[source])

    def _send(self, method: str, **parameters: Any) -> Any:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        self._connection.send(json.dumps(message))
        while (answer := json.loads(self._connection.recv(ANSWER_SECONDS))).get("id") is None:
            pass  # An event.
        assert answer["type"] == "success", answer
        return answer["result"]


class WebKit(Driver):
    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._path = ""
        session = self._post("/session", capabilities={})
        self._path = f"/session/{session['sessionId']}"

    def close(self) -> None:
        self._client.delete(self._path).raise_for_status()

    def open(self, url: str) -> None:
        self._post("/url", url=url)

    def resize(self, width: int) -> None:
        self._post("/window/rect", x=0, y=0, width=width, height=HEIGHT)
        self.until(f"innerWidth === {width}")

    def screenshot(self) -> str:
        return self._answer(self._client.get(f"{self._path}/screenshot"))

    def _evaluate(self, expression: str) -> str:
        return self._post("/execute/sync", script=f"return {expression};", args=[])

    def _perform(self, kind: str, actions: list[dict[str, Any]]) -> None:
        self._post("/actions", actions=[{"type": kind, "id": kind, "actions": actions}])

    def _post(self, path: str, **parameters: Any) -> Any:
        return self._answer(self._client.post(self._path + path, json=parameters))

    def _answer(self, answer: httpx.Response) -> Any:
        assert answer.is_success, answer.text
        return answer.json()["value"]


@contextmanager
def firefox(home: Path) -> Iterator[Driver]:
    executable = program("firefox-esr", "firefox")
    lines = [f"user_pref({json.dumps(key)}, {json.dumps(it)});" for key, it in PREFERENCES.items()]
    (home / "user.js").write_text("\n".join(lines))
    command = [executable, "--headless", "--no-remote", "--profile", home]
    command += ["--remote-debugging-port", "0"]
    with started(command, home, "WebDriver BiDi listening on ") as output:
        url = re.search(r"listening on (ws://\S+)", output.text)[1]
        with connect(f"{url}/session", proxy=None, max_size=None) as connection:
            yield Firefox(connection)


@contextmanager
def webkit(home: Path) -> Iterator[Driver]:
    executable, screen = program("WebKitWebDriver"), program("Xvfb")
    looks = home / ".config" / "gtk-3.0"
    looks.mkdir(parents=True)
    (looks / "gtk.css").write_text(NARROW)
    port = free_port()
    with (
        display(screen) as number,
        started([executable, f"--port={port}"], home, "", DISPLAY=f":{number}", **PROXIES),
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=ANSWER_SECONDS
        ) as client,
    ):
        wait_until(lambda: answers(client), START_SECONDS)
        driver = WebKit(client)
        yield driver
        driver.close()


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/status").is_success
    except httpx.ConnectError:
        return False


@contextmanager
def display(executable: str) -> Iterator[str]:
    """Run a display without a screen, and yield its number."""
    reading, writing = os.pipe()
    command = [executable, "-displayfd", str(writing), "-screen", "0", "1440x900x24"]
    process = subprocess.Popen(
        [*command, "-nolisten", "tcp"], pass_fds=[writing], stderr=subprocess.DEVNULL
    )
    os.close(writing)
    try:
        with open(reading) as number:
            yield number.readline().strip()
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


@contextmanager
def started(command: list[Any], home: Path, words: str, **settings: str) -> Iterator[Output]:
    """Run a program with its own home folder; at the end, stop it and every process it started."""
    environment = {
        **{key: it for key, it in os.environ.items() if not key.startswith("XDG_")},
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "GSETTINGS_BACKEND": "memory",
        "NO_AT_BRIDGE": "1",
        **settings,
    }
    process = launch(command, env=environment, start_new_session=True)
    output = Output(process)
    try:
        assert output.saw(words, START_SECONDS), output.text
        yield output
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(STOP_SECONDS)
        output.close()
