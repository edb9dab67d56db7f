"""Value handles, states, the policy and the binding of arguments."""

from __future__ import annotations

import itertools
from typing import Annotated

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, Registry, register_command
from debugger.model.debugger_words import uses_shell
from debugger.model.events import NEXT, State, check_transition, require_state
from debugger.model.value_refs import ValueRefs


def test_a_handle_keeps_its_name_within_a_stop_and_nothing_has_none():
    refs = ValueRefs()
    assert refs.assign_name(0) is None
    assert refs.assign_name(50) == refs.assign_name(50) == "v1"
    assert refs.assign_name(51) == "v2"
    assert refs.find_handle("v1") == 50


def test_a_name_of_an_earlier_stop_is_stale_and_never_given_again():
    refs = ValueRefs()
    refs.assign_name(50)
    refs.new_stop()
    assert refs.assign_name(50) == "v2"
    with pytest.raises(DebuggerError) as stale:
        refs.find_handle("v1")
    assert stale.value.code is ErrorCode.STALE_REF


@pytest.mark.parametrize("name", ["v2", "v0", "x", "", "v", "v-1", "v1 ", "v" + "9" * 9999, "v١"])
def test_a_name_that_was_never_given_is_not_found(name):
    refs = ValueRefs()
    refs.assign_name(50)
    with pytest.raises(DebuggerError) as unknown:
        refs.find_handle(name)
    assert unknown.value.code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize(("now", "then"), list(itertools.product(State, State)))
def test_a_state_goes_only_where_the_table_says(now, then):
    if then in NEXT[now]:
        assert check_transition(now, then) is then
    else:
        with pytest.raises(DebuggerError) as refused:
            check_transition(now, then)
        assert refused.value.code is ErrorCode.WRONG_STATE
        assert refused.value.hint


@pytest.mark.parametrize("now", list(State))
def test_a_command_in_the_wrong_state_is_told_what_to_do(now):
    require_state(now, now, to="look")
    with pytest.raises(DebuggerError) as refused:
        require_state(now, to="look")
    ended = now is State.TERMINATED
    assert refused.value.code is (ErrorCode.PROGRAM_EXITED if ended else ErrorCode.WRONG_STATE)
    assert refused.value.message.startswith("cannot look: ")
    assert refused.value.hint


@pytest.mark.parametrize(
    "raw",
    [
        "platform shell id",
        "pl sh id",
        "  `platform shell id",
        '"platform" shell id',
        "platform 'shell' id",
        "'script' print(1)",
        "script print(1)",
        "sc",
        "scripting run print(1)",
        "shell id",
        "command script import x",
        "command source f",
        "com so f",
        "command alias x platform shell",
        "command regex x s/a/b/",
        "breakpoint command add -o 'shell id' 1",
        "br com add 1",
        "b -n main -C id",
        "breakpoint set -n main --command id",
        "watchpoint command add 1",
        "target stop-hook add -o id",
        "type summary add -P T",
        "type summary add --python-script x T",
        "process launch -c",
        "process launch --shell /bin/sh",
        "plugin load x.so",
        "!id",
        "| print 1 | id",
        "pipe print 1 | id",
        "python print(1)",
        "source f",
        "target remote | id",
        "thread apply all shell id",
        "interpreter-exec console x",
    ],
)
def test_what_runs_a_shell_or_a_script_is_seen(raw):
    assert uses_shell(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "`",
        "bt",
        "frame variable",
        "breakpoint list",
        "breakpoint set -f main.c -l 3",
        "breakpoint set -n main -c 'i == 3'",
        "watchpoint set variable x",
        "image lookup -n main",
        "p x",
        "expression a --b",
        "register read",
        "process status",
        "print a -c",
        "process continue",
        "thread backtrace all",
        "target modules dump line-table main.c",
        "memory read 0x1000",
        "settings show",
        "platform status",
        "info locals",
        "x/4x $sp",
        "step",
        "s",
        "type summary list",
    ],
)
def test_what_only_looks_or_runs_is_let_through(raw):
    assert not uses_shell(raw)


def registry() -> Registry:
    known = Registry()

    @register_command("do it", aliases=("d",), group="G", registry=known)
    async def do_it(
        call: object,
        names: Annotated[tuple[str, ...], Argument("NAME")] = (),
        *,
        count: Annotated[int, Option("--count")],
        limit: Annotated[float | None, Option("--limit")] = None,
        on: Annotated[bool, Option("--on")] = False,
    ) -> None:
        """Do it.

        And more of it.
        """

    return known


def test_a_command_is_what_its_function_says():
    (found,) = registry()
    assert (found.wire_name, found.summary, found.details) == ("do_it", "Do it.", "And more of it.")
    names, count, limit, on = found.parameters
    assert names.is_repeated
    assert names.value_type is str
    assert count.is_required
    assert (limit.value_type, on.value_type) == (float, bool)


@pytest.mark.parametrize("name", ["do it", "do_it", "d"])
def test_a_command_is_found_by_every_name(name):
    assert registry().get(name).name == "do it"


def test_two_commands_of_one_name_are_refused():
    known = registry()
    with pytest.raises(ValueError, match="two commands are called 'd'"):

        @register_command("other", aliases=("d",), group="G", registry=known)
        async def other(call: object) -> None:
            """Do another thing."""


def test_arguments_are_checked_and_defaults_filled_in():
    found = registry().get("d")
    assert found.bind_arguments({"count": "3", "names": ["a"]}) == {
        "names": ("a",),
        "count": 3,
        "limit": None,
        "on": False,
    }


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"count": "x"},
        {"count": 1, "extra": 1},
        {"count": 1, "names": "a"},
        {"count": [1]},
        {"count": None},
        {"count": 1.5},
        {"count": 1, "on": "perhaps"},
        {"count": 1, "limit": {}},
    ],
)
def test_arguments_that_do_not_fit_are_a_usage_error(given):
    with pytest.raises(DebuggerError) as refused:
        registry().get("d").bind_arguments(given)
    assert refused.value.code is ErrorCode.USAGE
    assert refused.value.message.startswith("do it: ")


def test_an_unknown_command_is_a_usage_error():
    with pytest.raises(DebuggerError, match="no command 'nosuch'"):
        registry().get("nosuch")
