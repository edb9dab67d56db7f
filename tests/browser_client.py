"""Drives a headless Chromium by its driver (W3C WebDriver, over HTTP)."""

from __future__ import annotations

import base64
import http.client
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_ANSWER_S = 60.0
_WAIT_S = 60.0
_STARTED = re.compile(r"started successfully on port (\d+)")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver, 12.1
# WebDriver, 17.4.2: the code points of keys.
KEYS = {
    **{f"F{number}": chr(0xE030 + number) for number in range(1, 13)},
    "Shift": "\ue008",
    "Control": "\ue009",
    "Alt": "\ue00a",
    "Enter": "\ue007",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "End": "\ue010",
    "Home": "\ue011",
    "Tab": "\ue004",
    "PageDown": "\ue00f",
    "Escape": "\ue00c",
    "Delete": "\ue017",
}


class Browser:
    """A browser with one window, or several."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._session = ""

    def begin(self, profile: str) -> None:
        options = {
            "args": [
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *(
                    "--no-first-run",
                    "--disable-background-networking",
                    f"--user-data-dir={profile}",
                ),
                "--window-size=1400,900",
            ]
        }
        wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}
        found = self._ask("POST", "/session", {"capabilities": wanted})
        self._session = f"/session/{found['sessionId']}"

    def end(self) -> None:
        self._ask("DELETE", self._session)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_ANSWER_S)
        try:
            sent = None if method != "POST" else json.dumps(body or {})
            connection.request(method, path, sent, {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise AssertionError(f"{path}: {value['error']}: {value['message'][:500]}")
        return value

    def open(self, url: str) -> None:
        self._ask("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str, *args: Any) -> Any:
        """Run a script; its value is returned, a promise's when it is fulfilled."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": args})

    def devtools(self, command: str, **params: Any) -> Any:
        """Run a command of Chromium's own protocol."""
        body = {"cmd": command, "params": params}
        return self._ask("POST", f"{self._session}/goog/cdp/execute", body)

    def wait(self, condition: str, *args: Any, what: str = "", seconds: float = _WAIT_S) -> Any:
        """Wait until an expression is true; return its value."""
        deadline = time.monotonic() + seconds
        while not (found := self.run(f"return {condition}", *args)):
            if time.monotonic() > deadline:
                page = self.run("return document.body.innerText.slice(-800)")
                raise AssertionError(f"waited for {what or condition}; the page:\n{page}")
            time.sleep(0.03)
        return found

    def wait_text(self, selector: str, text: str, seconds: float = _WAIT_S) -> None:
        """Wait until the first element of a selector has this text in it."""
        self.wait(
            "(document.querySelector(arguments[0])?.innerText ?? '').includes(arguments[1])",
            *(selector, text),
            what=f"{text!r} in {selector}",
            seconds=seconds,
        )

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def count(self, selector: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", selector))

    def click(self, selector: str) -> None:
        """Click the element as a person does: where it is, and only if nothing covers it."""
        by = {"using": "css selector", "value": selector}
        try:
            found = self._ask("POST", f"{self._session}/element", by)
            self._ask("POST", f"{self._session}/element/{found[_ELEMENT]}/click")
        except AssertionError as error:
            # The page has replaced it since it was found.
            if "stale element" not in str(error):
                raise
            found = self._ask("POST", f"{self._session}/element", by)
            self._ask("POST", f"{self._session}/element/{found[_ELEMENT]}/click")

    def press(self, *keys: str) -> None:
        """Press keys together, the last one after those that are held down: Shift, F11."""
        codes = [KEYS.get(key, key) for key in keys]
        actions = [{"type": "keyDown", "value": code} for code in codes]
        actions += [{"type": "keyUp", "value": code} for code in reversed(codes)]
        body = {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}
        self._ask("POST", f"{self._session}/actions", body)

    def type_text(self, text: str) -> None:
        for one in text:
            self.press(one)

    def take_picture(self) -> bytes:
        return base64.b64decode(self._ask("GET", f"{self._session}/screenshot"))

    def log(self) -> list[dict[str, Any]]:
        """Return what the browser has complained of since the last time."""
        found: list[dict[str, Any]] = self._ask(
            "POST", f"{self._session}/se/log", {"type": "browser"}
        )
        return found

    def set_view(self, width: int, height: int, scheme: str = "light") -> None:
        """Set the size of the view and the colour scheme."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme_feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme_feature])

    def new_window(self) -> str:
        """Open a window, and return the handle of the one before."""
        before = str(self._ask("GET", f"{self._session}/window"))
        made = self._ask("POST", f"{self._session}/window/new", {"type": "window"})
        self.switch_window(made["handle"])
        return before

    def switch_window(self, handle: str) -> None:
        self._ask("POST", f"{self._session}/window", {"handle": handle})

    def close_window(self, other: str) -> None:
        """Close the window, and go to another."""
        self._ask("DELETE", f"{self._session}/window")
        self.switch_window(other)


@contextmanager
def open_browser(driver: str) -> Iterator[Browser]:
    """Start the driver and a browser; both end with the context."""
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [driver, "--port=0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
        )
        assert process.stdout is not None
        try:
            found = next(filter(None, map(_STARTED.search, process.stdout)))
            browser = Browser(int(found[1]))
            browser.begin(str(Path(folder) / "profile"))
            try:
                yield browser
            finally:
                browser.end()
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()
