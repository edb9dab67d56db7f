"""The page's server: who reaches it, what it follows, and taking over, without a browser."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

import debuggees
from page_client import PageServerProcess, serve_page

LOOP = debuggees.find_source("loop.py")
RETURN = debuggees.find_marker("loop.py", "return")

Cli = Callable[..., Any]

BAD_BODIES = (
    b"",
    b"[]",
    b"nonsense",
    b'{"command": "eval", "arguments": {"words": ["1"]}}',
    b'{"command": ["next"]}',
    b'{"command": "events", "session": 5}',
    b'{"command": "events", "arguments": [1]}',
    b"[" * 100_000,
    b'{"x": "' + b"y" * (2 << 20) + b'"}',
)


def check_locked(page: PageServerProcess) -> None:
    """Check each way in that must be closed."""
    host = f"127.0.0.1:{page.port}"
    own = f"http://{host}"
    assert page.ask("GET", "/", cookie="").status == 403
    for path in ("/events", "/static/app.js", "/request", "/command", "/picture/e1.svg"):
        method = "POST" if path in {"/request", "/command"} else "GET"
        assert page.ask(method, path, cookie="").status == 403
    # The token is valid once, and no other is.
    assert page.ask("GET", f"/?token={page.token}", cookie="").status == 403
    assert page.ask("GET", "/?token=guess", cookie="").status == 403
    for name in ("evil.example", f"evil.example:{page.port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert page.ask("GET", "/", Host=name).status in {400, 421}
    for origin in ("http://evil.example", "null", f"https://{host}", "http://127.0.0.1:1"):
        assert page.ask("GET", "/events", Origin=origin).status == 403
        posted = page.ask("POST", "/command", b"{}", Origin=origin, Content_Type="application/json")
        assert posted.status == 403
    assert page.ask("GET", "/static/app.js", Sec_Fetch_Site="cross-site").status == 403
    # What a form of another site can send.
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""):
        sent = page.ask("POST", "/command", b'{"command": "events"}', Content_Type=kind)
        assert sent.status == 415
    assert page.ask("GET", "/", Origin=own).status == 200


def check_pictures(page: PageServerProcess) -> None:
    """Check that pictures have a policy of their own, and that only answers have one."""
    answer = page.ask("GET", "/picture/e1.svg")
    assert answer.status == 409  # no daemon here
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "sandbox" in policy
    assert "unsafe" not in policy
    for number in ("e0", "e1;x", "--help", "e1%20--force", "%2e%2e", "e1%0a", "9" * 40):
        assert page.ask("GET", f"/picture/{number}.svg").status in {400, 404}, number
        assert page.ask("GET", f"/picture/{number}.json").status in {400, 404}, number
    assert page.ask("POST", "/picture/e1.svg", Content_Type="application/json").status == 405


def other_addresses() -> list[str]:
    """Return this machine's addresses that are reached from others."""
    addresses = [one for row in psutil.net_if_addrs().values() for one in row]
    found = [one.address for one in addresses if one.family is socket.AF_INET]
    return [one for one in found if not one.startswith("127.")]


def check_paths(page: PageServerProcess) -> None:
    """Check that no path leads out of the folder of static files."""
    assert page.ask("GET", "/static/app.js").status == 200
    for path in (
        *("/static/../ui_main.py", "/static/..%2fui_main.py", "/static/%2e%2e/ui_main.py"),
        *("/static//etc/passwd", "/static/%2fetc/passwd", "/static/....//ui_main.py"),
        *("/static/..%5cui_main.py", "/static/%00", "/static/", "/static/nothing.js", "/other"),
    ):
        assert page.ask("GET", path).status == 404, path
    assert page.ask("POST", "/static/app.js", Content_Type="application/json").status == 405


def test_only_the_page_that_was_opened_reaches_the_server(runtime_dir: Path):
    with serve_page(runtime_dir) as page:
        assert page.ask("GET", "/", cookie="").status == 403
        given = page.redeem().lower()
        assert "httponly" in given
        assert "samesite=strict" in given
        # Cookies are not kept apart by port.
        assert given.startswith(f"debugger_ui_{page.port}=")
        answer = page.ask("GET", "/")
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "trusted-types 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert b"<noscript>" in answer.body
        check_locked(page)
        check_paths(page)
        check_pictures(page)
        check_bodies(page)
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
        key = {"Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        assert page.ask("GET", "/events2", **upgrade, **key).status in {400, 403, 404}
        # Only this machine can connect at all.
        for address in other_addresses():
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((address, page.port), 5)


def check_bodies(page: PageServerProcess) -> None:
    """Check that a request that is none is refused as such."""
    for body in BAD_BODIES:
        for path in ("/request", "/command"):
            answer = page.ask("POST", path, body, Content_Type="application/json")
            assert answer.status == 400, (body[:60], answer)
            assert answer.data["error"]["message"]


def test_the_browser_is_opened_at_a_private_file_that_leads_to_the_page(
    runtime_dir: Path, tmp_path: Path, wait_until: Callable[..., None]
):
    given = tmp_path / "given"
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {given}.new && mv {given}.new {given}\n')
    opener.chmod(0o700)
    with serve_page(runtime_dir, browser=f"{opener} %s") as page:
        wait_until(given.exists)
        address = given.read_text()
        # Other users see the arguments of a process.
        assert page.token not in address
        file = Path(address.removeprefix("file://"))
        assert file.stat().st_mode & 0o077 == 0
        assert page.url in file.read_text()
    assert not file.exists()


def test_a_page_follows_a_session_and_continues_where_it_was(cli: Cli, runtime_dir: Path):
    cli("start", LOOP, "--break", f"{LOOP}:{RETURN}", check=0)
    with serve_page(runtime_dir) as page:
        page.redeem()
        with page.follow("loop") as stream:
            assert stream.event("session")["state"] == "stopped"
            assert stream.event("output")["output"] == "step 1\n"
            stopped = stream.event("stopped", reason="breakpoint")
            frames = stream.request("stackTrace", threadId=stopped["threadId"]).data["body"]
            assert frames["stackFrames"][0]["line"] == RETURN
            cli("next", check=0)
            stream.event("stopped", reason="step")
            last = stream.last
        cli("continue", check=0)
        # A number that is none, of this timeline: all of the output comes again.
        with page.follow("loop", last=f"{last.partition(':')[0]}:{'9' * 60}") as stream:
            assert stream.event("output")["output"].startswith("step 1\n")
        with page.follow("loop", last=last) as stream:
            # What it has had before does not come again.
            assert stream.event("output")["output"] == "step 2\n"
            assert stream.event("stopped", reason="breakpoint")
            cli("stop", check=0)
            stream.event("terminated")
        with page.follow("loop") as stream:
            assert "loop" in stream.event("gone")["message"]


def test_an_agent_waits_while_a_person_has_taken_over(cli: Cli, runtime_dir: Path):
    cli("start", LOOP, "--break", f"{LOOP}:{RETURN}", check=0)
    with serve_page(runtime_dir) as page:
        page.redeem()
        with page.follow("loop") as stream:
            thread = stream.event("stopped")["threadId"]
            refused = stream.request("next", threadId=thread)
            assert refused.status == 409
            assert "take over" in refused.data["error"]["message"]
            assert stream.request("takeOver").status == 200
            assert stream.event("session", holder=None)
            holder = stream.event("session")["holder"]
            assert holder["isThisPage"]
            # What is typed may change the program; what is watched may not.
            frames = stream.request("stackTrace", threadId=thread).data["body"]["stackFrames"]
            typed = {"expression": "i", "frameId": frames[0]["id"]}
            for command in (("next",), ("continue",), ("stop",), ("eval", "1"), ("set", "i=3")):
                answer = cli(*command)
                assert answer.exit == 1
                assert f"a person took over loop at {holder['since']}" in answer.err
                assert "debugger await" in answer.err
            assert "i = 1" in cli("print", "i", check=0).out
            assert "still waiting" in cli("await", "--timeout", "0.2", check=1).err
            assert stream.request("evaluate", **typed, context="repl").status == 200
            stream.request("next", threadId=thread)
            stream.event("stopped", reason="step")
            assert stream.request("handBack").status == 200
            frames = stream.request("stackTrace", threadId=thread).data["body"]["stackFrames"]
            typed = {"expression": "i", "frameId": frames[0]["id"]}
            for more in ({"context": "repl"}, {}):
                assert stream.request("evaluate", **typed, **more).status == 409
            assert stream.request("evaluate", **typed, context="watch").status == 200
            scopes = stream.request("scopes", frameId=frames[0]["id"]).data["body"]["scopes"]
            change = {"variablesReference": scopes[0]["variablesReference"], "name": "i"}
            assert stream.request("setVariable", **change, value="7").status == 409
            expression = {"frameId": frames[0]["id"], "expression": "i", "value": "7"}
            assert stream.request("setExpression", **expression).status == 409
            assert stream.request("takeOver", session="nobody").status == 409
            stream.event("session", holder=None)
            assert "stopped: step" in cli("await", check=0).out
            assert stream.request("next", threadId=thread).status == 409
            cli("next", check=0)
        with page.follow("loop", key="one") as one, page.follow("loop", key="two") as two:
            one.event("session", holder=None)
            two.event("session", holder=None)
            one.request("takeOver")
            assert two.event("session")["holder"]["isThisPage"] is False
            assert "another screen" in two.request("next", threadId=thread).data["error"]["message"]
            two.request("takeOver")
            assert two.event("session")["holder"]["isThisPage"] is True
            assert one.request("next", threadId=thread).status == 409
            two.request("handBack")
