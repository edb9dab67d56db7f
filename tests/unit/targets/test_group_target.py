"""Which running processes become a group; the processes here are made up."""

from __future__ import annotations

import os

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.system.process_info import ProcessInfo
from debugger.targets.group_target import (
    ATTACHED_MAX,
    GroupSearch,
    complete_search,
    find_group_processes,
)

TOP = 4_000_001  # above the kernel's most


def python_process(number: int, parent: int, *words: str) -> ProcessInfo:
    given = words or ("train.py",)
    return ProcessInfo(
        TOP + number,
        "python3",
        ("python3", *given),
        exe="/usr/bin/python3",
        cwd="/job",
        parent=parent,
        group=TOP + number,
        state="S",
    )


PROCESSES = [
    ProcessInfo(1, "init", ("init",), exe="/sbin/init", parent=0, state="S"),
    ProcessInfo(os.getpid(), "python3", ("python3",), exe="/usr/bin/python3", parent=1, state="R"),
    python_process(0, 1),
    python_process(1, TOP, "-c", "from multiprocessing.resource_tracker import main;main(5)"),
    python_process(2, TOP),
    ProcessInfo(TOP + 3, "sh", ("sh", "-c", "x"), exe="/bin/sh", cwd="/", parent=TOP, state="S"),
    python_process(4, TOP + 3, "load.py"),
    python_process(5, 1, "other.py"),
]


def numbers(search: GroupSearch, *, any_language: bool = False) -> list[int]:
    found = find_group_processes(search, PROCESSES, any_language=any_language)
    return [one.pid - TOP for one in found]


def test_a_tree_is_its_top_and_the_python_processes_below_it() -> None:
    assert numbers(GroupSearch(tree=TOP)) == [0, 2, 4]


def test_with_an_adapter_every_process_of_the_tree_is_taken() -> None:
    assert numbers(GroupSearch(tree=TOP), any_language=True) == [0, 1, 2, 3, 4]


def test_what_is_named_without_an_option_is_a_tree_or_a_pattern() -> None:
    assert complete_search(GroupSearch(), str(TOP)) == GroupSearch(tree=TOP)
    assert complete_search(GroupSearch(), "train.py") == GroupSearch(name="train.py")
    assert complete_search(GroupSearch(pids="1,2"), None) == GroupSearch(pids="1,2")
    with pytest.raises(DebuggerError, match=f"named twice: {TOP} and --pids 1,2") as refused:
        complete_search(GroupSearch(pids="1,2"), str(TOP))
    assert refused.value.hint == "debugger attach --group --pids 1,2"


def test_a_name_is_a_pattern() -> None:
    assert numbers(GroupSearch(name="train.py")) == [0, 2]
    assert numbers(GroupSearch(name="*a*.py")) == [0, 2, 4]


@pytest.mark.parametrize(
    "search",
    [
        GroupSearch(tree=1),
        GroupSearch(tree=os.getpid()),
        GroupSearch(name="*"),
        GroupSearch(name="?*"),
        GroupSearch(name="[a-z]*"),
        GroupSearch(name="python*"),
        GroupSearch(name="python3"),
        GroupSearch(name="?y*"),
        GroupSearch(name=""),
    ],
)
def test_what_would_take_in_the_programs_of_others_is_denied(search: GroupSearch) -> None:
    with pytest.raises(DebuggerError) as refused:
        find_group_processes(search, PROCESSES, any_language=False)
    assert refused.value.code is ErrorCode.DENIED
    assert refused.value.hint.startswith("debugger attach --group --")


@pytest.mark.parametrize(
    ("search", "code", "message"),
    [
        (GroupSearch(), ErrorCode.USAGE, "by one of --name, --tree and --pids"),
        (GroupSearch(name="a", tree=TOP), ErrorCode.USAGE, "by one of --name, --tree and --pids"),
        (GroupSearch(name="trains.py"), ErrorCode.NOT_FOUND, "no process matches --name trains.py"),
        (GroupSearch(name="sh"), ErrorCode.NOT_FOUND, "no Python process matches --name sh"),
        (GroupSearch(tree=TOP + 900), ErrorCode.NOT_FOUND, "no process"),
        (GroupSearch(pids=","), ErrorCode.USAGE, "--pids names no process"),
        (GroupSearch(pids="1,x"), ErrorCode.USAGE, "not a process number: 'x'"),
    ],
)
def test_a_search_that_finds_nothing_says_why(
    search: GroupSearch, code: ErrorCode, message: str
) -> None:
    with pytest.raises(DebuggerError) as refused:
        find_group_processes(search, PROCESSES, any_language=False)
    assert refused.value.code is code
    assert message in refused.value.message


@pytest.mark.parametrize(
    "words",
    [
        ("/venv/bin/debugger", "start", "train.py"),
        ("-I", "-S", "/lib/debugger/backends/adapters/debugpy/launcher.py", "train.py"),
        ("-I", "/lib/debugger/backends/adapters/debugpy/run_adapter.py"),
    ],
)
def test_parts_of_another_debugger_are_no_members(words: tuple[str, ...]) -> None:
    everything = [*PROCESSES, python_process(9, TOP, *words)]
    found = find_group_processes(GroupSearch(tree=TOP), everything, any_language=True)
    assert TOP + 9 not in [one.pid for one in found]


def test_too_many_processes_are_refused() -> None:
    many = [python_process(at, 1) for at in range(ATTACHED_MAX + 1)]
    with pytest.raises(DebuggerError) as refused:
        find_group_processes(GroupSearch(name="train.py"), many, any_language=False)
    assert f"a group takes {ATTACHED_MAX}" in refused.value.message


@pytest.mark.parametrize("is_chain", [False, True], ids=["side by side", "each below the last"])
def test_ten_thousand_processes_of_a_tree_are_refused(*, is_chain: bool) -> None:
    many = [python_process(0, 1)]
    many += [python_process(at, TOP + at - 1 if is_chain else TOP) for at in range(1, 10_000)]
    with pytest.raises(DebuggerError) as refused:
        find_group_processes(GroupSearch(tree=TOP), many, any_language=False)
    assert f"10000 processes match --tree {TOP}; a group takes 128" in refused.value.message
