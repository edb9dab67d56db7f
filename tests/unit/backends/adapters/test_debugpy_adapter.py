"""What debugpy is asked for, and what of its output is a logpoint's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.adapters.debugpy.debugpy_adapter import DebugpyAdapter
from debugger.backends.adapters.debugpy.debugpy_breakpoints import safe_log
from debugger.backends.base import AttachTarget, LaunchTarget, LogpointPassed
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import StreamFiles


def printed(text: str, names: dict[str, Any]) -> str:
    """Print a logpoint's text as pydevd does: one `%` expression of all that is in braces."""
    found = re.split(r"\{(\(lambda d.*?l=locals\(\)\)\))\}", text, flags=re.DOTALL)
    expression = f"{'%s'.join(found[::2])!r} % ({','.join(found[1::2])},)"
    return str(eval(expression, {}, names))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n={n} {nope} {n + 1}", "n=3 <NameError: name 'nope' is not defined> 4"),
        ("100% of {n}", "100% of 3"),
        ("{dict(a=n)} { {1: 'x'}[1] }", "{'a': 3} x"),
        ("{n +}", "<SyntaxError: invalid syntax (<string>, line 1)>"),
    ],
)
def test_an_expression_of_a_log_text_that_fails_leaves_the_others(text: str, said: str) -> None:
    assert printed(safe_log(text), {"n": 3}) == said


@pytest.mark.parametrize("text", ["no expression, 100%", "{}", "open { brace"])
def test_a_log_text_without_an_expression_stays_as_it_is(text: str) -> None:
    assert safe_log(text) == text


def test_a_program_that_is_attached_to_is_shown_as_one_that_is_started() -> None:
    launch = LaunchTarget(program="/x/a.py", args=(), cwd="/x", env={})
    launched = DebugpyAdapter().launch_arguments(
        launch, StreamFiles(Path("/x"), Path("/x"), Path("/x"))
    )
    attached = DebugpyAdapter().attach_arguments(AttachTarget(pid=1, cwd="/x", env={}))
    for key in ("variablePresentation", "showReturnValue", "breakOnSystemExit", "rules"):
        assert attached[key] == launched[key]


def test_what_debugpy_says_while_it_attaches_is_no_log_text() -> None:
    waiting = dap.OutputBody("Attaching to PID: 42 (elapsed: 1.00s).\n", "stdout")
    assert DebugpyAdapter().parse_output(waiting) is None
    assert DebugpyAdapter().parse_output(
        dap.OutputBody("[[log 1]] n=3\n", "stdout")
    ) == LogpointPassed(None, "[[log 1]] n=3")
