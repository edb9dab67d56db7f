"""What a member's libraries know of its wait: torch.distributed, barriers and locks."""

from __future__ import annotations

import multiprocessing
import queue
import sys
import threading
import types
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from debugger.questions.group import member_meetings
from debugger.questions.group.inside import meetings
from debugger.questions.group.member_wait import (
    COMPUTES,
    WAITS,
    Meeting,
    MemberWait,
    is_meeting,
)
from debugger.questions.hang.inside import locks

TORCH = Path(__file__).parents[2] / "programs" / "groups" / "site-packages"


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Import the stand-in for torch, of a job of four ranks of which this is the second."""
    monkeypatch.syspath_prepend(str(TORCH))
    for name, value in (("RANK", "1"), ("WORLD_SIZE", "4"), ("MEETING_FOLDER", str(tmp_path))):
        monkeypatch.setenv(name, value)
    known = set(sys.modules)
    import torch.distributed  # type: ignore[import-not-found]

    yield torch
    torch.distributed.distributed_c10d._world.default_pg = None
    torch.distributed.distributed_c10d._World.pg_names.clear()
    for name in set(sys.modules) - known:
        del sys.modules[name]


def collect_during(call: Any, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Any:
    """Collect the facts in another thread while the main one is in a function, which returns."""
    found: list[bytes] = []

    def collect() -> None:
        found.append(msgspec.json.encode(meetings.collect(locks)))

    def wait(*_: Any) -> None:
        thread = threading.Thread(target=collect)
        thread.start()
        thread.join()

    monkeypatch.setattr(owner, name, wait)
    call()
    return member_meetings.parse_facts(found[0])


def test_a_collective_call_is_known_with_its_number_its_tensors_and_its_ranks(torch, monkeypatch):
    torch.distributed.init_process_group("gloo")
    work = sys.modules["torch.distributed._compiled"].Work
    facts = collect_during(
        lambda: torch.distributed.all_reduce(torch.ones(4, 3)), monkeypatch, work, "wait"
    )
    assert facts.rank == 1
    assert msgspec.to_builtins(facts.call) == {
        "name": "all_reduce",
        "group": "",
        "ranks": (0, 1, 2, 3),
        "number": 1,
        "tensors": "[4, 3] float32",
        "peer": "",
    }
    wait = member_meetings.add_facts(MemberWait("1", WAITS, call="all_reduce"), facts)
    assert wait.meeting == Meeting("", (0, 1, 2, 3), 1, "[4, 3] float32")
    assert (wait.rank, wait.numbers) == (1, {"": 1})


def test_a_pending_call_without_a_frame_comes_from_the_flight_recorder(torch, monkeypatch):
    torch.distributed.init_process_group("gloo")
    # As torch 2.15 writes it, for gloo.
    entry = {
        "collective_seq_id": 2,
        "input_dtypes": ["Float"],
        "input_sizes": [[4, 3]],
        "process_group": ["0", "default_pg"],
        "profiling_name": "gloo:broadcast",
        "retired": False,
    }
    done = {**entry, "collective_seq_id": 1, "retired": True}
    compiled = types.ModuleType("torch._C._distributed_c10d")
    compiled._dump_fr_trace_json = lambda *_: msgspec.json.encode({"entries": [done, entry]})
    monkeypatch.setitem(sys.modules, compiled.__name__, compiled)
    # No function of torch is on the stack.
    facts = collect_during(
        lambda: owner.wait(1), monkeypatch, owner := types.SimpleNamespace(wait=0), "wait"
    )
    assert (facts.call.name, facts.call.number, facts.call.ranks) == ("broadcast", 2, (0, 1, 2, 3))
    assert facts.call.tensors == "[4, 3] Float"
    wait = member_meetings.add_facts(MemberWait("1", WAITS, call=""), facts)
    assert is_meeting(wait)


def test_a_program_without_torch_is_asked_for_nothing_of_it():
    facts = meetings.collect(locks)
    assert "torch" not in sys.modules
    assert facts == {}


def test_a_barrier_tells_how_many_must_come(monkeypatch):
    barrier = threading.Barrier(1)
    facts = collect_during(lambda: barrier.wait(5), monkeypatch, barrier, "_enter")
    assert (facts.parties, facts.came) == (1, 0)


@pytest.mark.parametrize(("timeout", "full"), [(None, 1), (60, None)])
def test_a_full_queue_tells_its_size_and_where_it_is_read(monkeypatch, timeout, full):
    waiting = multiprocessing.get_context("fork").Queue(1)
    waiting._sem.acquire()

    def put() -> None:
        with suppress(queue.Full):
            waiting.put(1, timeout=timeout)

    facts = collect_during(put, monkeypatch, waiting._sem, "acquire")
    waiting.cancel_join_thread()
    assert facts.full == full
    assert facts.reader == (full and waiting._reader.fileno())
    wait = member_meetings.add_facts(MemberWait("1", WAITS, call="Queue.put"), facts)
    assert wait.detail == ("a queue that is full (1)" if full else "")


def test_the_holder_of_a_lock_is_found_by_the_name_that_processes_share():
    lock = multiprocessing.get_context("fork").Lock()
    name = meetings._lock_name(lock)
    assert meetings.find_held([name], locks) == {}
    with lock:
        here = f"t{threading.get_ident()}"
        assert meetings.find_held([name, "/mp-other"], locks) == {name: here}


def test_a_barrier_of_another_thread_is_of_that_thread():
    barrier = threading.Barrier(2)
    thread = threading.Thread(target=barrier.wait)
    thread.start()
    while not barrier.n_waiting:
        threading.Event().wait(0.01)
    facts = member_meetings.parse_facts(msgspec.json.encode(meetings.collect(locks)))
    barrier.wait()
    thread.join()
    assert facts.parties is None
    assert facts.threads[f"t{thread.ident}"].parties == len(("this thread", "the other"))


@pytest.mark.parametrize(("call", "kind"), [("all_reduce", WAITS), ("forward", COMPUTES)])
def test_who_polls_for_the_others_waits_but_not_who_computes_beside_a_call(call, kind):
    facts = member_meetings.parse_facts(b'{"call": {"name": "all_reduce", "number": 4}}')
    wait = MemberWait("1", COMPUTES, call=call)
    assert member_meetings.add_facts(wait, facts).kind == kind


def test_a_call_between_two_ranks_is_no_meeting_and_names_the_other():
    call = (
        b'{"call": {"name": "recv", "peer": "from rank 1", "number": 3, "tensors": "[2] float32"}}'
    )
    facts = member_meetings.parse_facts(call)
    wait = member_meetings.add_facts(MemberWait("0", WAITS, call="recv"), facts)
    assert (wait.meeting, wait.call, wait.detail) == (None, "recv", "from rank 1, [2] float32")


def test_what_is_not_understood_is_no_fact():
    assert member_meetings.parse_facts(b'{"rank": "first"}') == member_meetings.MeetingFacts()
    assert member_meetings.parse_facts(b"") == member_meetings.MeetingFacts()


def test_who_joins_a_queue_is_told_how_many_items_are_not_done(monkeypatch):
    shared: Any = multiprocessing.JoinableQueue()
    for _ in range(2):
        shared.put("item")
    facts = collect_during(shared.join, monkeypatch, shared._cond, "wait")
    wait = member_meetings.add_facts(MemberWait("main", WAITS), facts)
    assert (facts.unfinished, wait.detail) == (2, "items without task_done: 2")
    shared.cancel_join_thread()
    local: queue.Queue[str] = queue.Queue()
    local.put("item")
    joining = threading.Thread(target=local.join)
    joining.start()
    while not local.all_tasks_done._waiters:  # type: ignore[attr-defined]
        threading.Event().wait(0.001)
    threads = meetings.collect(locks)["threads"]
    local.task_done()
    joining.join()
    assert {"unfinished": 1} in threads.values()
