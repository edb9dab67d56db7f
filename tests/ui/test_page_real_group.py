"""A person at the page of a group of 64 processes, each with a debugger of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import debuggees
from browser_client import Browser
from page_client import PageServerProcess, run_agent, serve_page

WORKERS = 64
MEET = debuggees.find_source("groups/meet.py")
ADD = debuggees.find_marker("groups/meet.py", "add")
START_S = "120"
# The workers start within seconds; other work on the machine may take most of it.
SLOW_S = 120.0

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def page(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServerProcess]:
    """Open the page in the browser; the group, the page and its daemon end with the test."""
    path = Path(tempfile.mkdtemp(prefix="dbg-ui-", dir="/tmp"))
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(path))
    monkeypatch.setenv("DEBUGGER_CONFIG", str(path / "config.toml"))
    for name in ("DEBUGGER_SESSION", "DEBUGGER_BACKEND", "DEBUGGER_TRANSPORT"):
        monkeypatch.delenv(name, raising=False)
    with serve_page(path) as server:
        chromium.set_view(1400, 900)
        chromium.open(server.url)
        chromium.wait_text("#state", "no session")
        yield server
        run_agent("stop", "--all", "--kill")
        run_agent("daemon", "stop")
    shutil.rmtree(path)


def merged_rows(browser: Browser) -> list[str]:
    rows = "[...document.querySelectorAll('#merged .row')].map((one) => one.innerText)"
    return [str(one) for one in browser.run(f"return {rows}")]


def test_a_person_drives_64_processes(page: PageServerProcess, chromium: Browser):
    browser = chromium
    where = f"{MEET}:{ADD}"
    words = ("start", "--group", str(MEET), "--break", where, "--timeout", START_S)
    started = run_agent(*words, "--", str(WORKERS))
    assert started.returncode == 0, started.stderr
    browser.open(f"http://127.0.0.1:{page.port}/?session=meet")
    browser.wait_text("#members", f"{WORKERS} stopped", SLOW_S)
    browser.wait_text("#members", "1 running")
    browser.wait_text("#breakpoints", f"{WORKERS}×", SLOW_S)
    assert browser.text("#session option:checked") == "meet"
    # All workers are in sight, without scrolling, once they are known by their numbers.
    box = "document.querySelector('#members')"
    browser.wait(f"{box}.scrollHeight <= {box}.clientHeight", seconds=SLOW_S)
    browser.click("#show-merged")
    browser.wait("/add/.test(document.querySelector('#merged').innerText)", seconds=SLOW_S)
    rows = merged_rows(browser)
    assert any(one.startswith(f"1-{WORKERS}") and f"{WORKERS}×" in one for one in rows), rows
    browser.click("#show-threads")
    browser.click(".member[aria-label^='40,']")
    browser.wait_text(".member[aria-selected=true]", "40")
    browser.wait_text("#variables", "worker", SLOW_S)
    browser.press("Shift", "F2")
    browser.wait_text("#who", "You act on all")
    assert "a person took over meet" in run_agent("next").stderr
    browser.press("F10")
    browser.wait_text("#place", f"line {ADD + 1}", SLOW_S)
    assert run_agent("breakpoint", "remove", "--all").returncode == 0
    browser.click("#continue-all")
    browser.wait_text("#members", f"{WORKERS + 1} running", SLOW_S)
    # One of them waits for a line of input, the others for that one: in compiled code.
    browser.click("#pause-all")
    browser.wait_text("#output", "did not stop within", SLOW_S)
    assert "they wait in compiled code" in browser.text("#output")
    browser.press("Shift", "F2")
    browser.wait_text("#who", "The agent acts")
    ended = run_agent("stop", "--group", "meet", "--kill", "--members", "all")
    assert ended.returncode == 0, ended.stderr
    browser.wait_text("#state", "ended", SLOW_S)
    faults = [one for one in browser.log() if one["source"] in {"security", "javascript"}]
    assert faults == []
