"""A download is complete and unchanged, or reported as failed."""

from __future__ import annotations

import base64
import hashlib
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.install import download
from debugger.install.caller_machine import CallerMachine

CONTENT = bytes(range(256)) * 2000
SHA512 = base64.b64encode(hashlib.sha512(CONTENT).digest()).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        said = self.path.rpartition("/")[2]
        if said == "missing":
            self.send_error(404)
            return
        if said == "moved":
            self.send_response(302)
            self.send_header("Location", "/good")
            self.end_headers()
            return
        self.send_response(200)
        if said != "unsized":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if self.command == "HEAD":
            return
        body = {"short": CONTENT[:1000], "changed": CONTENT[::-1]}.get(said, CONTENT)
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


async def fetch(url: str, into: Path, env: dict[str, str] | None = None, **limits: Any):
    limits = {"bytes_max": 10**6, **limits}
    await download.download_file(CallerMachine(env or {}), url, into, sha512=SHA512, **limits)


async def refused(url: str, into: Path, env: dict[str, str] | None = None, **limits: Any):
    with pytest.raises(DebuggerError) as found:
        await fetch(url, into, env, **limits)
    assert found.value.code is ErrorCode.ADAPTER_FAILED
    assert found.value.hint
    return found.value.message


@pytest.mark.parametrize("path", ["good", "unsized", "moved"])
async def test_a_file_comes_as_it_is(server, tmp_path, path):
    await fetch(f"{server}/{path}", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert download.file_checksum(tmp_path / "got") == SHA512


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("short", "of 512,000 bytes came"),
        ("changed", "another sha512"),
        ("missing", "the server answers 404"),
    ],
)
async def test_a_file_that_is_not_the_chosen_one_is_refused(server, tmp_path, path, says):
    assert says in await refused(f"{server}/{path}", tmp_path / "got")


@pytest.mark.parametrize("path", ["good", "unsized"])
async def test_a_file_that_is_too_large_is_refused(server, tmp_path, path):
    message = await refused(f"{server}/{path}", tmp_path / "got", bytes_max=1000)
    assert "1,000 at most were expected" in message or "another sha512" in message
    assert not (tmp_path / "got").exists() or (tmp_path / "got").stat().st_size <= 1000


async def test_nobody_there_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert "refused" in await refused(f"http://127.0.0.1:{port}/x", tmp_path / "got")
    assert "cannot download" in await refused("http://nowhere.invalid/x", tmp_path / "got")


@pytest.mark.timeout(60)
async def test_one_who_never_answers_is_not_waited_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/x"
        message = await refused(url, tmp_path / "got", answer_s=0.3)
        assert "no answer within 0.3 s" in message
        with pytest.raises(DebuggerError, match="no answer"):
            await download.fetch_size(CallerMachine({}), url, answer_s=0.3)


async def test_the_callers_proxy_is_taken_and_its_exceptions(server, tmp_path):
    proxy = {"http_proxy": server}
    await fetch("http://nowhere.invalid/good", tmp_path / "by", proxy)
    assert (tmp_path / "by").read_bytes() == CONTENT
    except_for = {**proxy, "no_proxy": "nowhere.invalid"}
    assert "cannot download" in await refused(
        "http://nowhere.invalid/x", tmp_path / "x", except_for
    )


async def test_a_size_is_asked_without_the_file(server):
    assert await download.fetch_size(CallerMachine({}), f"{server}/good") == len(CONTENT)


async def test_what_cannot_be_written_is_no_fault_of_the_network(server, tmp_path):
    with pytest.raises(OSError, match="No such file"):
        await fetch(f"{server}/good", tmp_path / "nowhere" / "got")


async def test_a_thread_is_told_that_nobody_waits():
    import asyncio

    begun, told = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        begun.set()
        if stop.wait(5):
            told.set()

    job = asyncio.ensure_future(download.in_thread(work))
    await asyncio.to_thread(begun.wait, 5)
    job.cancel()
    assert await asyncio.to_thread(told.wait, 5)
    assert job.cancelled() or job.cancelling()
