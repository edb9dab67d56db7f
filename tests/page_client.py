"""Speaks to `debugger ui` as a page does, without a browser."""

from __future__ import annotations

import http.client
import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANSWER_S = 30.0
_URL = re.compile(r"page: (http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)\S*)")


@dataclass(frozen=True)
class Reply:
    """An answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class PageServerProcess:
    """A running `debugger ui`, its address, and the cookie of a browser that has opened it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        match = _URL.match(f"page: {url}")
        assert match is not None
        self.port = int(match[2])
        self.token = match[3]
        self.cookie = ""

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        cookie: str | None = None,
        **headers: str,
    ) -> Reply:
        """Send one request, with the cookie, exactly as it is given."""
        given = {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": self.cookie if cookie is None else cookie,
        }
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()

    def redeem(self) -> str:
        """Open the page's address, keep the cookie, and return the header that set it."""
        answer = self.ask("GET", f"/?token={self.token}")
        assert answer.status == 200, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer.headers["set-cookie"]

    def post(self, path: str, **body: Any) -> Reply:
        return self.ask("POST", path, json.dumps(body).encode(), Content_Type="application/json")

    @contextmanager
    def follow(self, session: str, *, key: str = "key", last: str = "") -> Iterator[FollowedStream]:
        """Follow a session, as a page does."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        headers = {"Cookie": self.cookie} | ({"Last-Event-ID": last} if last else {})
        connection.request("GET", f"/events?session={session}&key={key}", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        stream = FollowedStream(self, answer)
        try:
            yield stream
        finally:
            stream.close(connection)


class FollowedStream:
    """A stream of events; `number` is by which requests name it."""

    def __init__(self, server: PageServerProcess, answer: http.client.HTTPResponse) -> None:
        self._server = server
        self._answer = answer
        self._arrived: queue.Queue[tuple[str, Any, str] | None] = queue.Queue()
        self._waiting: list[tuple[str, Any, str]] = []
        self.last = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.number = self.event("hello")["stream"]

    def event(self, name: str, **fields: Any) -> Any:
        """Wait for an event with these fields, and return its data."""
        for at, (known, data, _) in enumerate(self._waiting):
            if known == name and fields.items() <= data.items():
                return self._waiting.pop(at)[1]
        while True:
            try:
                arrived = self._arrived.get(timeout=ANSWER_S)
            except queue.Empty:
                raise AssertionError(f"no {name} {fields}: {self._waiting[-8:]}") from None
            assert arrived is not None, f"the stream ended before {name}: {self._waiting[-8:]}"
            known, data, number = arrived
            self.last = number or self.last
            if known == name and fields.items() <= data.items():
                return data
            self._waiting.append(arrived)

    def request(self, command: str, **arguments: Any) -> Reply:
        return self._server.post(
            "/request", stream=self.number, command=command, arguments=arguments
        )

    def close(self, connection: http.client.HTTPConnection) -> None:
        # The socket is the answer's by now, and is closed at its other end only by both.
        if self._answer.fp is not None:
            self._answer.fp.raw._sock.shutdown(2)  # type: ignore[attr-defined]
        self._reader.join(ANSWER_S)
        self._answer.close()
        connection.close()

    def _read(self) -> None:
        name, data, number = "", "", ""
        try:
            for raw in self._answer:
                field, _, value = raw.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    data = value
                elif field == "id":
                    number = value
                elif not field and name:
                    self._arrived.put((name, json.loads(data), number))
                    name, data, number = "", "", ""
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # it was closed
        self._arrived.put(None)


@contextmanager
def serve_page(
    runtime_dir: Path, *words: str, browser: str | None = None
) -> Iterator[PageServerProcess]:
    """Run `debugger ui`; it must end at a signal.

    `browser` is a command that it opens, as the variable BROWSER names one (Python's webbrowser).
    """
    opening = ["--no-open"] if browser is None else []
    process = subprocess.Popen(
        [sys.executable, "-m", "debugger", *words, "ui", *opening],
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir), "BROWSER": browser or ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        match = _URL.match(line)
        assert match is not None, line
        yield PageServerProcess(process, match[1])
        process.terminate()
        assert process.wait(ANSWER_S) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def run_agent(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an agent does beside the page."""
    return subprocess.run(
        [sys.executable, "-m", "debugger", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
