"""Commands bind their functions' arguments, and mark rightly what only reads."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

import msgspec
import pytest

from debugger.cli import commands
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import COMMANDS, Argument, Option

commands.register_all()
ALL = list(COMMANDS)

CHANGES = {
    "start", "attach", "stop", "detach", "restart", "use", "breakpoint add", "breakpoint remove",
    "breakpoint enable", "breakpoint disable", "breakpoint change", "continue", "next", "step",
    "finish", "until", "pause", "await", "frame", "up", "down", "eval", "set", "thread", "raw",
    "output", "input", "daemon stop", "trace add", "trace remove", "log", "write", "call",
}  # fmt: skip
READS = {
    "status", "sessions", "breakpoint list", "context", "source", "backtrace", "locals", "args",
    "print", "vars", "threads", "events", "doctor", "config", "daemon status", "daemon logs",
    "trace list", "read",
}  # fmt: skip
SAMPLES = {str: "x", int: 1, float: 1.5, bool: True, tuple[str, str]: ["a", "b"], int | str: 1}


def sample(kind):
    return get_args(kind)[0] if get_origin(kind) is Literal else SAMPLES[kind]


def frozen(value):
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def required(found):
    samples = ((one, sample(one.value_type)) for one in found.parameters if one.is_required)
    return {one.name: [value] if one.is_repeated else value for one, value in samples}


@pytest.mark.parametrize("found", ALL, ids=lambda one: one.name)
def test_a_command_binds_every_argument_that_it_has(found):
    given = {}
    for parameter in found.parameters:
        value = sample(parameter.value_type)
        given[parameter.name] = [value] if parameter.is_repeated else value
    bound = found.bind_arguments(given)
    assert set(bound) == {parameter.name for parameter in found.parameters}
    assert msgspec.to_builtins(bound) == {name: frozen(value) for name, value in given.items()}


@pytest.mark.parametrize("found", ALL, ids=lambda one: one.name)
def test_a_command_needs_only_what_is_required(found):
    bound = found.bind_arguments(required(found))
    assert all(bound[one.name] == one.default for one in found.parameters if not one.is_required)
    if required(found):
        with pytest.raises(DebuggerError) as refused:
            found.bind_arguments({})
        assert refused.value.code is ErrorCode.USAGE


@pytest.mark.parametrize("found", ALL, ids=lambda one: one.name)
def test_a_command_refuses_what_it_does_not_know(found):
    with pytest.raises(DebuggerError) as refused:
        found.bind_arguments({**required(found), "no_such_argument": 1})
    assert refused.value.code is ErrorCode.USAGE
    assert refused.value.hint == f"debugger {found.name} --help"


@pytest.mark.parametrize("found", ALL, ids=lambda one: one.name)
def test_a_command_says_what_it_does_and_each_option_too(found):
    assert found.summary.endswith(".")
    assert found.group
    for one in found.parameters:
        assert isinstance(one.about, Argument | Option)
        if isinstance(one.about, Option):
            assert one.about.flags[0].startswith("--")
            assert one.about.help


def test_a_command_only_reads_unless_it_changes_program_session_or_cursor():
    by_flag = {True: set(), False: set()}
    for one in ALL:
        by_flag[one.reads_only].add(one.name)
    assert by_flag[False] >= CHANGES
    assert by_flag[True] >= READS


def test_no_two_options_of_a_command_share_a_flag():
    for one in ALL:
        flags = [
            flag for p in one.parameters if isinstance(p.about, Option) for flag in p.about.flags
        ]
        assert len(flags) == len(set(flags)), one.name


def test_only_the_last_word_takes_all_that_is_left():
    for one in ALL:
        words = [p for p in one.parameters if isinstance(p.about, Argument)]
        for parameter in words[:-1]:
            assert not parameter.about.words, one.name
            assert not parameter.is_repeated, one.name
