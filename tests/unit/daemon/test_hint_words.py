"""A hint has the words of the command that failed: its program, value, location and options."""

from __future__ import annotations

import pytest

from debugger.daemon.hint_words import complete_hint
from debugger.errors import DebuggerError, ErrorCode

PROGRAM = ("python3", "my app.py")


@pytest.mark.parametrize(
    ("hint", "completed"),
    [
        ("debugger crash -- CMD", "debugger crash -- python3 'my app.py'"),
        (
            "debugger path -- CMD shows what ran; FILE:LINE names any function",
            "debugger path -- python3 'my app.py' (shows what ran); FILE:LINE names any function",
        ),
        (
            "debugger why NAME --at f.c:3 -- CMD: a name that is known there",
            "debugger why NAME --at f.c:3 -- python3 'my app.py' (a name that is known there)",
        ),
        (
            "debugger probe --at LOC EXPR -- CMD, LOC an earlier line",
            "debugger probe --at LOC EXPR -- python3 'my app.py', LOC an earlier line",
        ),
        ("debugger path -- CMD --vs GOOD_CMD", "debugger path -- CMD --vs GOOD_CMD"),
    ],
)
def test_the_program_stands_in_the_hint(hint: str, completed: str) -> None:
    error = DebuggerError(ErrorCode.NOT_FOUND, "not there", hint=hint)
    found = complete_hint(error, "probe", {"words": PROGRAM}, ("probe", "--", *PROGRAM))
    assert found.hint == completed


@pytest.mark.parametrize(
    "argv",
    [
        ("crash", "--timeout", "5", "--raised", "./app 1"),
        ("crash", "--timeout", "5", "--raised", "--", "./app 1"),
    ],
)
def test_the_same_command_keeps_its_options(argv: tuple[str, ...]) -> None:
    error = DebuggerError(ErrorCode.USAGE, "one word", hint="debugger crash -- ./app 1")
    found = complete_hint(error, "crash", {"words": ("./app 1",)}, argv)
    assert found.hint == "debugger crash --timeout 5 --raised -- ./app 1"


def test_another_command_has_no_options_of_this_one() -> None:
    error = DebuggerError(ErrorCode.USAGE, "no crash", hint="debugger crash -- CMD")
    argv = ("probe", "--at", "f.c:3", "n", "--", "./app")
    assert complete_hint(error, "probe", {"words": ("./app",)}, argv).hint == (
        "debugger crash -- ./app"
    )


def test_a_hint_with_another_form_of_the_command_has_not_the_options_at_fault() -> None:
    hint = "debugger path -- CMD shows what ran"
    error = DebuggerError(ErrorCode.NOT_FOUND, "no function nope ran", hint=hint)
    argv = ("path", "--around", "nope", "--", "./app")
    found = complete_hint(error, "path", {"words": ("./app",)}, argv)
    assert found.hint == "debugger path -- ./app (shows what ran)"


def test_two_programs_stand_in_no_hint_for_one() -> None:
    hint = "debugger path --around LOC -- CMD looks at one"
    error = DebuggerError(ErrorCode.USAGE, "not with --vs", hint=hint)
    words = ("./a", "--vs", "./b")
    assert complete_hint(error, "path", {"words": words}, ("path", "--", *words)).hint == hint


def test_of_a_name_that_several_files_have_the_same_command_names_one() -> None:
    said = "2 files are called util.py:\n  /app/a/util.py\n  /app/b/util.py"
    error = DebuggerError(ErrorCode.USAGE, said, hint="debugger break a/util.py:LINE")
    argv = ("probe", "--at", "util.py:3", "k", "--", "my app.py")
    found = complete_hint(error, "probe", {"words": ("my app.py",)}, argv)
    assert found.hint == "debugger probe --at a/util.py:3 k -- 'my app.py'"
    argv = ("--json", "--session", "s1", "break", "util.py:3")
    found = complete_hint(error, "breakpoint add", {}, argv)
    assert found.hint == "debugger break a/util.py:3"
    assert complete_hint(error, "break", {}, ("break", "other.py:3")).hint == error.hint


@pytest.mark.parametrize(
    ("argv", "completed"),
    [
        (("why", "n", "--at", "f.py:4", "--nth", "9", "--", "python", "f.py"),
         "debugger why --timeout 300 n --at f.py:4 --nth 9 -- python f.py"),
        (("why", "--timeout", "5", "n", "--at", "a b:4", "--", "./x", "--timeout", "1"),
         "debugger why --timeout 300 n --at 'a b:4' -- ./x --timeout 1"),
        (("where-from", "n"), "debugger why --timeout 300 …"),
    ],
)  # fmt: skip
def test_more_time_is_the_users_own_command_with_it(argv: tuple[str, ...], completed: str) -> None:
    error = DebuggerError(ErrorCode.TIMEOUT, "late", hint="debugger why --timeout 300 …")
    assert complete_hint(error, "why", {}, argv).hint == completed


@pytest.mark.parametrize(
    ("argv", "completed"),
    [
        (
            ("--json", "probe", "--at", "f.py:3", "n > 1", "--first", "2"),
            "debugger probe --at f.py:3 'n > 1' --first 2 -- ./program ARGUMENTS",
        ),
        (
            ("probe", "--at", "f.py:3", "n", "--", "./nosuch"),
            "debugger probe --at f.py:3 n -- ./program ARGUMENTS",
        ),
        # Without a location the hint shows where one goes.
        (("probe", "n"), "debugger probe --at FILE:LINE 'EXPR, EXPR' -- ./program ARGUMENTS"),
    ],
)
def test_without_a_program_the_hint_has_all_that_was_typed(
    argv: tuple[str, ...], completed: str
) -> None:
    hint = "debugger probe --at FILE:LINE 'EXPR, EXPR' -- ./program ARGUMENTS"
    error = DebuggerError(ErrorCode.USAGE, "which command?", hint=hint)
    words = argv[argv.index("--") + 1 :] if "--" in argv else ()
    assert complete_hint(error, "probe", {"words": words}, argv).hint == completed
