"""The reason why a process may not be traced."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from debugger.system.process_info import ProcessInfo, look_at
from debugger.system.trace_permission import TraceFacts, explain_refusal, facts_of


def facts(
    *, uid: int = 1000, root: bool = False, process: dict | None = None, **more
) -> TraceFacts:
    about = {"owner": 1000, "holder": 1000, "exe": "/srv/app", **(process or {})}
    whose = ProcessInfo(pid=42, name="app", **about)
    return TraceFacts(process=whose, uid=uid, may_trace_all=root, **more)


@pytest.mark.parametrize(
    ("known", "says", "advises", "is_certain"),
    [
        (facts(process={"is_kernel": True}), "kernel", "attach lists", True),
        (facts(process={"state": "Z"}), "has ended", "attach lists", True),
        (
            facts(is_init=True, uid=0, root=True),
            "first process of this machine",
            "debugger attach lists",
            True,
        ),
        (
            facts(process={"tracer": 7}, tracer_name="gdb", uid=0, root=True),
            "traced by process 7 (gdb) already",
            "process 7",
            True,
        ),
        (facts(scope=3, uid=0, root=True), "ptrace_scope is 3", "reboot", True),
        (facts(process={"owner": 0, "holder": 0}), "belongs to user 0", "root", True),
        (facts(scope=2), "ptrace_scope is 2", "sysctl", True),
        (facts(process={"holder": 0}), "more rights", "root", True),
        (facts(scope=1), "ancestors only", "sysctl", False),
        (facts(is_filtered=True), "filtered", "SYS_PTRACE", False),
        (facts(process={"exe": ""}, uid=0, root=True), "hidden from us", "container", True),
    ],
)
def test_each_reason_is_told_with_its_remedy(known, says, advises, is_certain):
    found = explain_refusal(known)
    assert found is not None
    assert says in found.reason
    assert advises in found.remedy
    assert found.is_certain is is_certain


@pytest.mark.parametrize(
    "known",
    [
        facts(),
        facts(scope=1, is_descendant=True),
        facts(scope=2, root=True),
        facts(process={"owner": 5}, uid=0, root=True),
        facts(is_filtered=True, root=True),
    ],
)
def test_nothing_is_said_against_what_is_allowed(known):
    assert explain_refusal(known) is None


def test_a_debugger_that_does_not_trace_needs_only_to_reach_the_process():
    assert explain_refusal(facts(scope=3, process={"tracer": 7}), traces=False) is None
    refused = explain_refusal(facts(process={"owner": 5}), traces=False)
    assert refused is not None
    assert "belongs to user 5" in refused.reason


@pytest.fixture
def sleeper():
    code = "import sys; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        running.stdout.readline()
        yield running.pid
        running.kill()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_the_facts_of_a_child_are_found(sleeper):
    found = facts_of(look_at(sleeper))
    assert found.uid == os.geteuid()
    assert found.is_descendant
    assert not found.is_init
    assert explain_refusal(found) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_a_traced_process_names_its_tracer(sleeper, wait_until):
    # A process that lets itself be traced by its parent: PTRACE_TRACEME is request 0.
    code = "import ctypes, os, sys; ctypes.CDLL(None).ptrace(0, 0, 0, 0); print(flush=True); "
    with subprocess.Popen(
        [sys.executable, "-c", code + "sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as traced:
        traced.stdout.readline()
        found = facts_of(look_at(traced.pid))
        refused = explain_refusal(found)
        traced.kill()
    assert found.process.tracer == os.getpid()
    assert refused is not None
    assert f"traced by process {os.getpid()} " in refused.reason


_AS_NOBODY = """
import json, os, sys
from debugger.system.trace_permission import facts_of, explain_refusal
from debugger.system.process_info import look_at
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
refused = explain_refusal(facts_of(look_at(int(sys.argv[1]))))
print(json.dumps([refused.reason, refused.remedy, refused.is_certain]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_process_of_another_user_is_refused_before_it_is_tried(sleeper):
    ran = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, str(sleeper)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    reason, remedy, is_certain = json.loads(ran.stdout)
    assert f"process {sleeper} (" in reason
    assert "belongs to user 0, and we are user 65534" in reason
    assert f"debugger attach {sleeper}" in remedy
    assert is_certain
