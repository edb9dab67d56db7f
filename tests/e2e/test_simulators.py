"""Attaching to an app on a simulator from the command line.

The simulator is a scripted xcrun; the app on it is a process of this machine, really attached to.
"""

from __future__ import annotations

import sys

import pytest

from cli_commands import answer_data, marked_location
from debuggees import build_debuggee
from fakes.fake_xcrun import LIST, FakeXcrun, list_arguments, simulator_device
from refused_commands import check_refused
from running_programs import attach_to_stop, run_program

UDID = "11111111-2222-3333-4444-555555555555"
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
lldb = pytest.mark.adapter("lldb-dap")


@pytest.fixture
def xcrun(tmp_path) -> FakeXcrun:
    fake = FakeXcrun(tmp_path)
    fake.has(simulator_device(UDID, "iPhone 16"))
    return fake


@lldb
@pytest.mark.parametrize("simulator", ["iPhone 16", UDID])
def test_an_app_is_attached_to_by_its_bundle_id_and_stops_at_a_breakpoint(cli, xcrun, simulator):
    with run_program(build_debuggee("app.c"), ready="serving") as process:
        xcrun.runs(UDID, {"UIKitApplication:com.a[1]": process.pid, "com.a.helper": 1})
        words = ("--simulator", simulator, "--bundle-id", "com.a")
        stop = attach_to_stop(cli, *words, "-b", marked_location("app.c", "handled"), env=xcrun.env)
        assert stop["frame"]["function"] == "handle"
        told = answer_data(cli("--json", "status", check=0))
        assert (told["simulator"], told["pid"]) == (UDID, process.pid)
        assert f"simulator: {UDID}" in cli("status", check=0).out
        assert xcrun.calls == [LIST, list_arguments(UDID)][simulator == UDID :]
        cli("detach", check=0)


@lldb
def test_a_pid_on_a_simulator_is_attached_to_and_the_simulator_told(cli, xcrun):
    with run_program(build_debuggee("app.c"), ready="serving") as process:
        answer = cli("attach", str(process.pid), "--simulator", "iPhone 16", env=xcrun.env)
        assert (answer.exit, f"on simulator iPhone 16 ({UDID})" in answer.out) == (0, True)
        cli("detach", check=0)


@lldb
def test_an_app_that_starts_later_is_waited_for(cli, xcrun):
    with run_program(build_debuggee("app.c"), ready="serving") as process:
        xcrun.runs(UDID, {}, {"com.a": process.pid})
        words = ("attach", "--simulator", UDID, "--bundle-id", "com.a", "--wait-for")
        answer = cli(*words, env=xcrun.env, check=0)
        assert f"com.a on simulator {UDID} is process {process.pid}" in answer.out
        cli("detach", check=0)


def test_an_app_that_does_not_start_is_waited_for_no_longer_than_asked(cli, xcrun):
    xcrun.runs(UDID, {})
    words = (
        "attach",
        "--simulator",
        UDID,
        "--bundle-id",
        "com.a",
        "--wait-for",
        "--timeout",
        "0.3",
    )
    answer = cli(*words, env=xcrun.env)
    assert answer.exit == 1
    assert f"No running process found for com.a on simulator {UDID} within 0.3 s" in answer.err


MEANINGLESS = [
    (("--bundle-id", "com.a"), "on which simulator?"),
    (("--wait-for",), "on which simulator?"),
    (("--simulator", "iPhone 16"), "Provide either bundleId or pid"),
    (("5", "--simulator", "iPhone 16", "--bundle-id", "com.a"), "mutually exclusive"),
    (("--simulator", "iPhone 16", "--name", "app"), "one thing to attach to"),
    (("--simulator", "iPhone 16", "--core", "core"), "one thing to attach to"),
    (("--simulator", "iPhone 16", "--bundle-id", "com a"), "not a bundle id"),
]


def test_words_that_mean_nothing_are_refused_before_xcrun_is_run(cli, xcrun):
    for words, says in MEANINGLESS:
        check_refused(cli, "attach", *words, exit=2, code="USAGE", says=says, env=xcrun.env)
        assert xcrun.calls == []
