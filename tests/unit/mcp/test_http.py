"""The HTTP server serves this machine only, and only clients that know the token."""

from __future__ import annotations

import asyncio
import stat

import pytest
from mcp.shared.exceptions import MCPError
from starlette.testclient import TestClient

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import http_server
from debugger.mcp.http_server import (
    VARIABLE,
    AccessToken,
    ListenAddress,
    OpenRequests,
    RequestGuard,
    parse_listen_address,
)
from event_loop import begin_task


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("127.0.0.1:80", "http://127.0.0.1:80/mcp"),
        ("127.1.2.3:0", "http://127.1.2.3:0/mcp"),
        ("localhost:65535", "http://127.0.0.1:65535/mcp"),
        ("[::1]:8", "http://[::1]:8/mcp"),
        ("::1:8", "http://[::1]:8/mcp"),
    ],
)
def test_a_loopback_address_is_a_place(given, url) -> None:
    assert parse_listen_address(given).url == url


@pytest.mark.parametrize(
    "given",
    [
        *("", ":", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:65536"),
        "127.0.0.1:٣",
        "0.0.0.0:1",
        "[::]:1",
        "[::ffff:8.8.8.8]:1",
        "10.0.0.1:1",
        "host:1",
        "127.1:1",
        "[fe80::1%lo]:1",
    ],
)
def test_anything_else_is_none(given) -> None:
    with pytest.raises(DebuggerError) as failed:
        parse_listen_address(given)
    assert failed.value.code is ErrorCode.USAGE
    assert "debugger mcp --http 127.0.0.1:0" in str(failed.value.hint)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("0.0.0.0:0", "0.0.0.0 is not this machine alone"),
        (":0", "every address is not this machine alone"),
        ("[::]:0", ":: is not this machine alone"),
        ("192.168.0.1:80", "192.168.0.1 is not this machine alone"),
        ("example.com:80", "example.com is not this machine alone"),
        ("127.0.0.1", "not HOST:PORT: 127.0.0.1"),
        ("127.0.0.1:99999", "not HOST:PORT: 127.0.0.1:99999"),
        ("127.0.0.1:x", "not HOST:PORT: 127.0.0.1:x"),
    ],
)
def test_an_address_that_is_refused_is_named(given, says) -> None:
    with pytest.raises(DebuggerError) as failed:
        parse_listen_address(given)
    assert failed.value.message.startswith(says)


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer x", "bearer  sec ret", "Basic secret"]
)
def test_a_header_without_the_token_does_not_match(header) -> None:
    assert not AccessToken("secret").matches_header(header)


@pytest.mark.parametrize("header", ["Bearer secret", "bearer secret", "BEARER  secret "])
def test_a_header_with_the_token_matches(header) -> None:
    assert AccessToken("secret").matches_header(header)


def test_the_token_is_taken_out_of_the_environment() -> None:
    env = {VARIABLE: "secret", "A": "b"}
    assert AccessToken.taken_from(env).matches_header("Bearer secret")
    assert env == {"A": "b"}


@pytest.mark.parametrize("given", ["a b", "a\nb", "ä", "\x7f"])
def test_a_token_that_no_header_can_hold_is_refused(given) -> None:
    with pytest.raises(DebuggerError) as failed:
        AccessToken.taken_from({VARIABLE: given})
    assert failed.value.code is ErrorCode.USAGE


def test_without_one_each_server_has_a_new_token_in_a_private_file(tmp_path) -> None:
    one, other = AccessToken(None), AccessToken.taken_from({VARIABLE: ""})
    with (
        one.write_token_file(str(tmp_path), 1) as path,
        other.write_token_file(str(tmp_path), 2) as other_path,
    ):
        values = [(tmp_path / name).read_text().strip() for name in (path, other_path)]
        assert one.matches_header(f"Bearer {values[0]}")
        assert not one.matches_header(f"Bearer {values[1]}")
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


async def _served(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


def guarded() -> RequestGuard:
    return RequestGuard(_served, token=AccessToken("secret"), where=ListenAddress("127.0.0.1", 80))


def ask(guard: RequestGuard, **headers: str) -> int:
    given = {"Host": "127.0.0.1:80", "Authorization": "Bearer secret", **headers}
    return TestClient(guard).get("/mcp", headers=given).status_code


def test_a_request_passes_with_the_token_and_a_name_of_this_machine() -> None:
    guard = guarded()
    assert ask(guard) == 204
    assert ask(guard, Host="localhost:80", Origin="http://localhost:80") == 204
    assert ask(guard, Authorization="Bearer other") == 401
    assert ask(guard, Host="evil:80") == 421
    assert ask(guard, Origin="https://localhost:80") == 403
    assert ask(guard, Origin="http://localhost:81") == 403


def test_neither_one_client_nor_all_together_have_too_much_in_service(monkeypatch) -> None:
    guard = guarded()
    guard._served["greedy"] = http_server.OF_ONE_MAX
    assert ask(guard, **{"Mcp-Session-Id": "greedy"}) == 429
    assert ask(guard, **{"Mcp-Session-Id": "modest"}) == 204
    guard._served["others"] = http_server.TOGETHER_MAX
    assert ask(guard, **{"Mcp-Session-Id": "modest"}) == 503
    assert set(guard._served) == {"greedy", "others"}


async def test_the_end_waits_for_answers_to_posts_and_not_for_streams() -> None:
    answered = asyncio.Event()

    async def serve(scope, receive, send) -> None:
        await answered.wait()

    async def open_request(method: str) -> asyncio.Task[None]:
        scope = {
            "type": "http",
            "method": method,
            "headers": [
                (b"host", b"127.0.0.1:80"),
                (b"authorization", b"Bearer secret"),
                (b"content-type", b"application/json"),
            ],
        }
        return await begin_task(guard(scope, None, None))

    guard = RequestGuard(serve, token=AccessToken("secret"), where=ListenAddress("127.0.0.1", 80))
    stream = await open_request("GET")
    await guard.wait_answered()
    answered.set()
    await stream
    answered.clear()
    post = await open_request("POST")
    ends = await begin_task(guard.wait_answered())
    assert not ends.done()
    answered.set()
    await asyncio.gather(post, ends)


async def test_a_request_that_is_served_after_the_end_is_answered_too() -> None:
    requests = OpenRequests()
    requests.answer_all()

    async def serve(context) -> None:
        await asyncio.Event().wait()

    with pytest.raises(MCPError, match="the server was stopped"):
        await requests(None, serve)
