"""How long the runs of a question about a value may take, and what is a store that nobody saw."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from debugger.backends.base import LaunchTarget
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import (
    freed_block,
    heap_history,
    native_values,
    settled_locals,
    traced_run,
    write_choice,
)
from debugger.questions.why.answer import LinkCertainty
from debugger.questions.why.chain_positions import end_in_library, written_origin
from debugger.questions.why.heap_history import HeapHistory
from debugger.questions.why.native_links import literal_end
from debugger.questions.why.native_steps import ReachedEnd, ValuePosition
from debugger.questions.why.statement_origin import OriginKind
from debugger.questions.why.traced_run import (
    EndPlan,
    LinePlan,
    TraceEvent,
    TraceFrame,
    TracePlan,
    TraceResult,
    TraceValue,
)
from debugger.questions.why.why_request import USUAL_S, WhyRequest
from debugger.session.stepping import WaitLimit

_FRAME = TraceFrame("main", "/src/a.c", 4, cfa=0x7FFF00001000)


@pytest.mark.parametrize(("below_cfa", "owner"), [(8, "callee"), (0, "main"), (-8, "main")])
def test_memory_from_the_address_of_a_frame_on_is_its_callers(below_cfa: int, owner: str) -> None:
    callee = TraceFrame("callee", "/src/a.c", 9, cfa=0x7FFF00000F00)
    memory = TraceValue(text="0", kind="int", address=callee.cfa - below_cfa, size=4)
    position = ValuePosition("p->n", memory, (callee, _FRAME), 0, LinkCertainty.SEEN)
    found = write_choice.owner_of(position)
    assert found is not None
    assert found.function == owner


@pytest.mark.parametrize(
    ("usual_s", "patience_s", "run_s", "seconds"),
    [
        (USUAL_S, 60.0, 1.0, USUAL_S),
        (USUAL_S, 60.0, 9.0, 36.0),  # of a slow program as many runs
        (USUAL_S, 10.0, 1.0, 10.0),
        (0.0, 60.0, 1.0, 60.0),  # the user's own time limit
    ],
)
def test_all_runs_together_have_a_bound_of_their_own(
    usual_s: float, patience_s: float, run_s: float, seconds: float
) -> None:
    request = WhyRequest("n", "a.c:4", usual_s=usual_s)
    assert request.seconds_for(patience_s, run_s) == seconds


def _position(value: str) -> ValuePosition:
    memory = TraceValue(text="0", kind="int", address=0x404010, size=4, bytes=value)
    return ValuePosition("n", memory, (_FRAME,), 0, LinkCertainty.SEEN)


def _allocated(function: str) -> TraceEvent:
    library = TraceFrame(function, library=True)
    return TraceEvent("w1", 1, 1, (library, _FRAME), old="01000000", new="00000000")


def test_memory_without_a_change_may_have_been_set_by_a_store_of_the_same_value() -> None:
    zero = TraceResult(initial={"w1": "00000000"}, final={"w1": "00000000"})
    assert write_choice.may_hide_store(_position("00000000"), "w1", None, zero)
    # What it is from the start it is, whoever has stored it again.
    seven = TraceResult(initial={"w1": "07000000"}, final={"w1": "07000000"})
    assert not write_choice.may_hide_store(_position("07000000"), "w1", None, seven)


@pytest.mark.parametrize(
    ("statement", "kind", "content", "is_seen"),
    [
        ("ratio = 0.5;", "float", struct.pack("<d", 0.5).hex(), True),
        ("if (n == 1) ratio = 0.5;", "float", "00" * 8, False),
        ("if (n == 1) ratio = 0.5;", "float", struct.pack("<d", 0.5).hex(), True),
        ("ratio = half(n);", "float", "00" * 8, True),
        # The line ran; what it assigns under a condition is not known.
        ("if (n == 1) ratio = half(n);", "float", "00" * 8, False),
        ("else if (c) ratio = 0x10u;", "unsigned", "10000000", True),
        ("} else if (c) ratio = NULL;", "pointer", "10" + "00" * 7, False),
    ],
)
def test_a_line_that_ran_gave_a_value_only_if_it_may_have_assigned_it(
    statement: str, kind: str, content: str, *, is_seen: bool
) -> None:
    size = len(content) // 2
    value = TraceValue("0", kind=kind, address=_FRAME.cfa - 16, size=size, bytes=content)
    line = TraceFrame("main", "/src/a.c", 3, 7, _FRAME.cfa, statement=statement)
    position = ValuePosition("ratio", value, (_FRAME,), 0, LinkCertainty.SEEN)
    ran = TraceResult(events=(TraceEvent("l1", 1, 5, (line,)),))
    assert (write_choice.same_value_write(position, ran, None, None) is not None) is is_seen


def _of_allocator(sequence: int, function: str, key: str = "h10") -> TraceEvent:
    own = TraceFrame(f"own{sequence}", "/src/a.c", sequence)
    return TraceEvent(key, sequence, sequence, (TraceFrame(function, library=True), own))


def test_the_free_of_a_pointer_is_the_first_one_after_it_was_stored() -> None:
    steps = ("free", "malloc", "free", "malloc", "free")
    events = tuple(_of_allocator(at, name) for at, name in enumerate(steps, 1))
    result = TraceResult(reached=True, events=events)
    second = freed_block.end_of_block(result, 2)
    assert second is not None
    assert second == freed_block.BlockEnd(events[2], reused=events[3], freed_again=events[4])
    # Where it is not known when it was stored, the last one alone is certain.
    assert freed_block.end_of_block(result, 0) == freed_block.BlockEnd(events[4])


@pytest.mark.parametrize(("function", "is_unset"), [("malloc", True), ("calloc", False)])
def test_memory_that_the_allocator_wrote_last_may_hold_a_stored_zero(
    function: str, is_unset: bool
) -> None:
    event = _allocated(function)
    found = write_choice.may_hide_store(_position("00000000"), "w1", event, TraceResult())
    assert found is is_unset


def _library_write(function: str, statement: str) -> ReachedEnd | None:
    own = msgspec.structs.replace(_FRAME, statement=statement)
    event = TraceEvent("w1", 1, 1, (TraceFrame(function, library=True), own), new="00000000")
    zero = msgspec.structs.replace(_position("00000000"), frames=event.frames, index=1, event=event)
    return end_in_library(zero)


def test_a_zero_that_the_library_of_cpp_has_written_is_explained() -> None:
    moved = _library_write("std::unique_ptr<Node>::unique_ptr", "keep(std::move(node));")
    assert moved is not None
    assert moved.reason.startswith("node was moved from at a.c:4")
    added = _library_write("std::map<int, int>::operator[]", "return prices[name];")
    assert added is not None
    assert "the key was not in the container" in added.reason
    assert _library_write("std::vector<int>::push_back", "v.push_back(0);") is None


def test_a_librarys_function_is_named_without_the_arguments_of_its_templates() -> None:
    name = "std::vector<int, std::allocator<int> >::push_back"
    assert native_values.plain_call(name) == "push_back"
    assert native_values.is_moving("std::__relocate_a<Item*, Item*>")
    assert not native_values.is_moving("std::map<relocate, int>::insert")


@pytest.mark.parametrize(
    ("new", "initial", "is_unseen"),
    [
        ("05000000", "00000000", False),  # the program wrote it
        ("07000000", "00000000", True),  # another value was seen last
        (None, "05000000", False),
        (None, "", True),  # memory that was mapped later, as by zeros
    ],
)
def test_a_value_that_no_write_has_given_is_the_systems(
    new: str | None, initial: str, is_unseen: bool
) -> None:
    event = TraceEvent("w1", 1, 1, (_FRAME,), new=new) if new is not None else None
    result = TraceResult(initial={"w1": initial})
    position = _position("05000000")
    assert write_choice.is_unseen(position, result, "w1", event, 2) is is_unseen


def test_a_block_that_realloc_has_moved_is_freed() -> None:
    frames = [TraceFrame(one, library=True) for one in ("tcache_put", "_int_free", "realloc")]
    moved = TraceEvent("w1", 1, 1, (*frames, _FRAME))
    assert native_values.is_free(moved)
    assert not native_values.is_allocation(moved)
    assert native_values.is_allocation(_allocated("realloc"))


async def test_a_run_that_gdb_did_not_survive_is_repeated_without_its_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans: list[TracePlan] = []

    async def run(*words: object, seconds: float) -> TraceResult | None:
        assert seconds == 1.0
        plan = words[-1]
        assert isinstance(plan, TracePlan)
        plans.append(plan)
        return None if plan.lines else TraceResult(reached=True)

    monkeypatch.setattr(traced_run, "_run_debugger", run)
    plan = TracePlan(EndPlan("exit"), lines=(LinePlan("l1", "a.cpp:3"),))
    question: Any = None
    result = await traced_run.run_traced(question, question, plan, seconds=1.0)
    assert (result.reached, result.hot, len(plans)) == (True, ("l1",), 2)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ('Account *account = new Account{7, 5, "ann"};', "5 is a literal at a.c:4"),
        ("let account = Box::new(Account { id: 5, balance: 67 });", "5 is a literal at a.c:4"),
        ("let other = vec![1, 5u8, 92];", "5u8 is a literal at a.c:4"),
        ("Account *account = new Account{7, other, 5};", None),  # any of them
        ("long *x = new long[4]{1, 2};", None),
    ],
)
def test_an_item_of_a_literal_of_constants_is_found_by_its_value(
    statement: str, reason: str | None
) -> None:
    frame = msgspec.structs.replace(_FRAME, statement=statement)
    position = msgspec.structs.replace(_position("05000000"), frames=(frame,))
    ended = literal_end(position)
    assert (ended.reason if ended is not None else None) == reason


@pytest.mark.parametrize(
    ("new", "kind"), [("09000000", OriginKind.COMPUTED), ("05000000", OriginKind.CONSTANT)]
)
def test_of_several_assignments_on_a_line_a_write_is_that_of_its_value(
    new: str, kind: OriginKind
) -> None:
    line = "static int counter() { static int calls = 5; calls += 2; return calls; }"
    frame = msgspec.structs.replace(_FRAME, statement=line)
    event = TraceEvent("w1", 1, 1, (frame,), new=new)
    value = msgspec.structs.replace(_position(new).value)
    position = ValuePosition("calls", value, (frame,), 0, LinkCertainty.RERUN, event)
    assert written_origin(position).origin.kind is kind


def test_a_write_beyond_a_vectors_block_names_the_vector() -> None:
    vector = TraceValue("{...}", "std::vector<int>", address=0x7FFF00000F00, size=24)
    frame = msgspec.structs.replace(_FRAME, statement="v.data()[i] = i + 1000;", vars={"v": vector})
    event = TraceEvent("w1", 1, 1, (frame,), blocks={"v": (0x5000, 0x5000, 24)})
    memory = TraceValue("5", kind="int", address=0x5020, size=4)
    position = ValuePosition("p->id", memory, (frame,), 0, LinkCertainty.SEEN)
    history = HeapHistory()
    assert heap_history.OVERLAP in history.describe_write(event, position, {})
    assert history.describe_overlap().startswith("overflow: 8 bytes past the end of v's block of")


@pytest.mark.parametrize(
    ("line", "is_shared"),
    [
        ("fill(&box);", True),
        ("box.size = find();", True),
        ("box.items[2] = 0;", True),
        ("use(box);", False),
    ],
)
def test_a_local_is_written_by_other_lines_if_its_address_or_fields_are(
    line: str, *, is_shared: bool
) -> None:
    text = ["int main(void) {", "struct box box = {0};", line, "}"]
    assert settled_locals.is_shared("a.c", text, (1, 4), "box") is is_shared


def test_header_words_that_were_not_watched_to_the_end_show_no_allocation() -> None:
    events = tuple(_of_allocator(at, name) for at, name in enumerate(("malloc", "free"), 1))
    history = HeapHistory()
    assert history.read_events(TraceResult(events=events, hot=("h10",)), {}) == {}
    assert list(history.read_events(TraceResult(events=events), {})) == [0x10]


async def test_an_error_within_the_runs_that_share_a_debugger_is_raised_as_it_is(
    tmp_path: Path,
) -> None:
    call: Any = SimpleNamespace(scratch_root=tmp_path)
    patience = WaitLimit(1.0, asyncio.Event())
    nothing: Any = None
    target = LaunchTarget(program="/bin/true", args=(), cwd="/", env={})
    question = QuestionRun(nothing, target, nothing, "why", patience)

    async def fail() -> None:
        async with traced_run.serve_traces(call, question) as served:
            assert served.tracer is not None
            raise KeyError("x")

    with pytest.raises(KeyError):
        await fail()
