"""A person at the page of a group of 64, whose programs are in memory: grid, stacks, pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser_client import Browser
from debugger.backends.base import OutputPrinted
from debugger.model.events import OutputStream
from debugger.output.chart_scale import ChartPoint
from debugger.output.svg_chart import ChartPanel, ChartSeries, draw_chart
from debugger.questions.runner.answer import DrawnCall, DrawnCallTree
from debugger.questions.runner.evidence_store import AnswerPicture
from fakes.fake_backend import FakeBackend
from page_client import PageServerProcess, run_agent, serve_page
from simulated_daemon import SimulatedDaemon, simulate_daemon
from simulated_groups import start_group

MEMBERS = 64
HOSTILE = "<img src=x onerror=document.title='owned'>\x1b[31mred\x07"
SHOWN = "<img src=x onerror=document.title='owned'>red␇"
LINE_BYTES = 100_000_000
CHUNK = 250_000
NIGHT = Path(__file__).with_name("night.js")
FILLING, AFTER = 120_000, 80_000  # events

pytestmark = pytest.mark.timeout(300)


class SimulatedPage:
    """The page at a group of 64, whose programs are in memory."""

    def __init__(
        self,
        browser: Browser,
        server: PageServerProcess,
        daemon: SimulatedDaemon,
        backends: list[FakeBackend],
    ) -> None:
        self.browser = browser
        self.server = server
        self.daemon = daemon
        self.backends = backends
        # Of the members and the program that started them; the tests of a worker share them.
        self.alive = MEMBERS + 1

    def open(self, session: str = "job") -> None:
        self.browser.open(f"http://127.0.0.1:{self.server.port}/?session={session}")
        self.browser.wait(f"document.querySelectorAll('.member').length == {MEMBERS + 1}")

    def act(self, work: Callable[[], None]) -> None:
        """Let something happen in the daemon's loop."""

        async def awaited() -> None:
            work()

        self.daemon.run(awaited)


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedPage]:
    directory = tmp_path_factory.mktemp("rt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEBUGGER_RUNTIME_DIR", str(directory))
        patch.setenv("DEBUGGER_CONFIG", str(directory / "config.toml"))
        for name in ("DEBUGGER_SESSION", "DEBUGGER_BACKEND", "DEBUGGER_TRANSPORT"):
            patch.delenv(name, raising=False)
        with simulate_daemon(directory) as daemon, serve_page(directory) as server:
            _, backends = daemon.run(lambda: start_group(daemon.sessions, MEMBERS))
            chromium.set_view(1400, 900)
            chromium.open(server.url)
            chromium.wait_text("#sessions", "job")
            yield SimulatedPage(chromium, server, daemon, backends)


def member(label: int) -> str:
    return f".member[aria-label^='{label},']"


def test_a_group_of_64_is_a_grid_by_state_with_merged_stacks(page: SimulatedPage):
    def be_odd() -> None:
        for one in page.backends[:2]:
            one.function, one.file = HOSTILE, "/nowhere/<b>.c"
            one.stop(12)
        page.backends[63].end(3)
        page.alive -= 1

    page.act(be_odd)
    page.open()
    browser = page.browser
    browser.wait_text("#members", "1 ended with status 3")
    browser.wait_text("#members", "63 stopped")
    browser.wait_text("#members", "1 running")
    browser.wait_text("#sessions", f"{MEMBERS + 1} members")
    assert browser.count("#sessions li") == 1
    browser.click("#show-merged")
    browser.wait_text("#merged", SHOWN)
    # The odd ones come first.
    assert browser.text("#merged .row[data-at='0'] .members") == "0-1"
    assert browser.text("#merged .row[data-at='1'] .members") == "2-62"
    browser.wait_text("#merged", "main")
    assert browser.count("#members img, #members b, #merged img, #merged b") == 0
    assert "owned" not in str(browser.run("return document.title"))
    browser.click("#show-threads")
    # A click shows a member, and so do the keys.
    browser.click(member(7))
    browser.wait_text(".member[aria-selected=true]", "7")
    browser.wait_text("#stack .chosen", "work")
    browser.press("ArrowRight")
    browser.press("Enter")
    browser.wait_text(".member[aria-selected=true]", "8")
    browser.press("ArrowDown")
    below = int(browser.run("return document.activeElement.innerText"))
    assert below > 9
    browser.press("End")
    browser.press("Home")
    assert browser.run("return document.activeElement.innerText") == "63"
    # A stop of another member does not take the page away from this one.
    page.act(lambda: page.backends[9].stop(33))
    browser.wait_text(f"{member(9)}[title*='33']", "9")
    assert browser.text(".member[aria-selected=true]") == "8"


def test_a_person_takes_over_one_member_and_the_agent_has_the_others(page: SimulatedPage):
    page.open()
    browser = page.browser
    for one in page.backends:
        one.is_stepping_at_once = True
    browser.click(member(5))
    browser.wait_text("#take", "Take over 5")
    browser.press("F10")
    browser.wait_text("#toast", "Take over first")
    browser.press("F2")
    browser.wait_text("#who", "You act on 5")
    session = browser.run("return document.querySelector('.member[data-held=you]').dataset.session")
    refused = run_agent("--session", session, "next")
    assert f"a person took over {session}" in refused.stderr
    assert refused.returncode == 1
    other = browser.run(f'return document.querySelector("{member(6)}").dataset.session')
    assert "stopped: step" in run_agent("--session", other, "next").stdout
    # The group's commands leave the member alone, and say so, although it is the current one.
    assert run_agent("use", session).returncode == 0
    went = run_agent("continue", "--group", "job", "--members", "5-6", "--timeout", "0.1")
    assert f"5 did not go on: cannot continue: a person took over {session}" in went.stdout
    run_agent("pause", "--group", "job")
    stopped = run_agent("stop", "--group", "job", "--members", "5")
    assert stopped.returncode == 1, stopped.stdout
    line = page.backends[5].line
    browser.press("F10")
    browser.wait(f"document.querySelector('#stack .chosen')?.innerText.includes(':{line + 1}')")
    # Another member is still the agent's.
    browser.click(member(6))
    browser.wait_text("#who", "The agent acts")
    browser.press("Shift", "F2")
    browser.wait_text("#who", "You act on all")
    assert "a person took over job" in run_agent("--session", other, "next").stderr
    page.open()  # a reload keeps it
    browser.wait_text("#who", "You act on all")
    browser.click("#continue-all")
    browser.wait_text("#members", f"{page.alive} running")
    browser.click("#pause-all")
    browser.wait_text("#members", f"{page.alive} stopped")
    browser.press("Shift", "F2")
    browser.wait_text("#who", "The agent acts")
    assert "stopped: step" in run_agent("--session", other, "next").stdout


# A member stops, and what follows was read before that.
OLDER = """
const [session] = arguments;
return import('/static/app.js').then(({ connection }) => {
  const members = [...document.querySelectorAll('.member')].map((one) => one.dataset.session);
  const groups = [{ group: 'job', sessions: members }];
  const overview = (own) => {
    const state = (one) => one === session ? own : 'stopped';
    const sessions = members.map((one) => ({ session: one, state: state(one) }));
    return { sessions, groups, current: 'job', evidence: [] };
  };
  connection.listen('overview', overview('stopped'));
  connection.listen('continued', { session, threadId: 1 });
  connection.listen('stopped', { session, threadId: 1, reason: 'step' });
  connection.listen('overview', overview('running'));
});
"""


def test_a_stop_stays_when_an_older_overview_comes_after_it(page: SimulatedPage):
    page.open()
    browser = page.browser
    browser.click(member(7))
    browser.wait_text("#state", "stopped")
    session = browser.run(f'return document.querySelector("{member(9)}").dataset.session')
    browser.run(OLDER, session)
    browser.click(member(9))
    browser.wait_text(".member[aria-selected=true]", "9")
    browser.wait_text("#state", "stopped: step")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_a_group(
    page: SimulatedPage, check_with_axe: Callable[[Browser], None], scheme: str
):
    browser = page.browser
    browser.set_view(380 if scheme == "dark" else 1400, 760, scheme)
    page.open()
    if scheme == "dark":
        browser.click("#panes [data-pane=stack]")
    browser.click("#show-merged")
    browser.wait_text("#merged", "work")
    check_with_axe(browser)
    cut = "(one) => one.checkVisibility() && one.scrollHeight > one.clientHeight + 1"
    buttons = f"[...document.querySelectorAll('button')].filter({cut}).map((one) => one.id)"
    assert browser.run(f"return {buttons}") == []
    if scheme == "dark":
        browser.click("#panes [data-pane=group]")
        browser.wait_text("#members", "stopped")
        assert browser.run("return document.documentElement.scrollWidth") <= 380
        check_with_axe(browser)
    browser.set_view(1400, 900)


def draw_hostile() -> str:
    points = tuple(ChartPoint(float(at), float(at % 2), HOSTILE) for at in range(9))
    series = (ChartSeries(HOSTILE, points),)
    return draw_chart(HOSTILE, [ChartPanel(HOSTILE, HOSTILE, series, facts=HOSTILE)])


def test_pictures_are_shown_and_nothing_in_them_runs(
    page: SimulatedPage, check_with_axe: Callable[[Browser], None]
):
    rows = (
        DrawnCall(0, "main()", 1.0, facts="8 ms"),
        DrawnCall(1, f"{HOSTILE}(x=1)", 0.25, result=HOSTILE, file="/nowhere/<b>.c", line=3),
        DrawnCall(1, "work()", 0.5, marks=("raised <b>Error",)),
        DrawnCall(2, "inner()", 0.25),
    )
    tree = DrawnCallTree(HOSTILE, "exited with status 0", "time", rows)
    evidence = page.daemon.evidence
    for words, more in ((("debugger", "probe"), {"draw": AnswerPicture(draw_hostile, str)}),
                        (("debugger", "path"), {"trees": (tree, tree)})):  # fmt: skip
        evidence.keep_answer(words, "/", summary=HOSTILE, text=HOSTILE, files=(), **more)  # type: ignore[arg-type]
    page.open()
    browser = page.browser
    browser.click("#tab-evidence")
    browser.wait_text("#evidence", SHOWN)
    browser.click("#evidence li:last-child button")
    browser.wait("document.querySelector('#answer img')?.naturalWidth > 600", what="a picture")
    browser.click("#evidence li:first-child button")
    browser.wait_text(".call-tree", SHOWN)
    assert browser.count(".call-tree") == 2
    # As in a flame graph: a bar lies within its caller's, after the one before it.
    bars = browser.run(
        "return [...document.querySelectorAll('.call-tree')[0].querySelectorAll('.row')]"
        ".sort((a, b) => a.dataset.at - b.dataset.at)"
        ".map((row) => row.querySelector('.bar').style).map((one) => [one.left, one.width])"
    )
    assert bars == [["0%", "100%"], ["0%", "25%"], ["25%", "50%"], ["25%", "25%"]]
    browser.run("document.querySelector('.calls').focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    browser.wait_text("#file", "<b>.c")
    assert browser.count("#answer b, #answer script, #evidence img") == 0
    assert "owned" not in str(browser.run("return document.title"))
    check_with_axe(browser)
    browser.press("Alt", "0")
    browser.wait("document.querySelector('#bottom-pane').clientHeight > 600")
    browser.press("Alt", "0")
    # The picture as a page of its own: its style is allowed, and no script.
    browser.open(f"http://127.0.0.1:{page.server.port}/picture/e1.svg")
    fill = "getComputedStyle(document.querySelector('.ink')).fill"
    assert browser.run(f"return {fill}") == "rgb(26, 26, 26)"
    answer = page.server.ask("GET", "/picture/e1.svg", cookie="")
    assert answer.status == 403


def test_a_line_of_100_mb_is_shown_by_its_beginning(page: SimulatedPage):
    page.open()
    browser = page.browser

    async def print_line() -> None:
        for at in range(LINE_BYTES // CHUNK):
            text = f"{'begin' if not at else ''}{'x' * CHUNK}"
            page.backends[0].sink(OutputPrinted(OutputStream.STDOUT, text))
            await asyncio.sleep(0)
        page.backends[0].sink(OutputPrinted(OutputStream.STDOUT, "\nafter\n"))

    page.daemon.run(print_line)
    browser.wait_text("#output", "after", 60)
    # The browser is not blocked, and keeps a part of it.
    assert browser.run("return document.querySelector('#output').innerText.length") < 30_000
    browser.wait("/more characters/.test(document.querySelector('#output').innerText)")


def measure_heap(browser: Browser) -> tuple[int, int]:
    """Return the bytes that scripts use, and the nodes of documents."""
    browser.devtools("HeapProfiler.collectGarbage")
    used = browser.devtools("Runtime.getHeapUsage")["usedSize"]
    return int(used), int(browser.devtools("Memory.getDOMCounters")["nodes"])


def test_a_page_that_is_open_overnight_keeps_no_more_than_its_bounds(page: SimulatedPage):
    page.open()
    browser = page.browser
    night = NIGHT.read_text()
    # The first events fill what is kept; after many more it is as much.
    browser.run(night, 0, FILLING)
    first, first_nodes = measure_heap(browser)
    browser.run(night, FILLING, AFTER)
    last, last_nodes = measure_heap(browser)
    assert last < 1.2 * first, (first, last)
    assert last_nodes < 1.2 * first_nodes + 500, (first_nodes, last_nodes)
    browser.wait_text("#lines", "older ones not kept")
