"""The functions by which runtime libraries of compiled languages end a program. Pure.

A program in Ada, D, Fortran or Nim that nobody's handler saves ends by its runtime library, with a
message and an exit status, and without a signal that a debugger would stop at. A breakpoint at the
library's function stops while the stack is whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from debugger.model import answers
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.runner.answer import Crash

_BY_REPORT = "the debugger did not see it: this is from the program's own report"
_TOO_MANY = "more than 40 exceptions were raised before: those after them were not looked at"
_INNERMOST = 8  # frames among which the runtime's function is found


class RuntimeErrors(Struct, frozen=True):
    """How the runtime library of a language ends a program."""

    functions: tuple[str, ...]
    # Its last words: `type` or `kind`, and `message`.
    report: re.Pattern[str]
    # Of errors that the program may handle: only its end shows which of them was not.
    may_be_handled: frozenset[str] = frozenset()


RUNTIME_ERRORS = {
    # raise-gcc.c: reached where the unwinder finds no handler.
    "ada": RuntimeErrors(
        functions=("__gnat_unhandled_exception",),
        report=re.compile(r"raised (?P<type>[A-Z_][\w.]*)(?: : (?P<message>.*))?$"),
    ),
    # DMD's, LDC's and GDC's: druntime's `main` catches all, so each throw is looked at.
    "d": RuntimeErrors(
        functions=("_d_throwdwarf", "_d_throw_exception", "_d_throw"),
        report=re.compile(r"(?P<type>[\w.]+)@[^()]+\(\d+\)(?:: (?P<message>.*))?$"),
        may_be_handled=frozenset({"_d_throwdwarf", "_d_throw_exception", "_d_throw"}),
    ),
    # libgfortran: bounds and other checks, `error stop`, and input and output (which `iostat=`
    # handles).
    "fortran": RuntimeErrors(
        functions=(
            "_gfortran_runtime_error_at",
            "_gfortran_runtime_error",
            "_gfortran_os_error_at",
            "_gfortran_error_stop_numeric",
            "_gfortran_error_stop_string",
            "_gfortran_generate_error",
        ),
        report=re.compile(r"(?P<kind>Fortran runtime error|ERROR STOP)(?::? (?P<message>.*))?$"),
        may_be_handled=frozenset({"_gfortran_generate_error"}),
    ),
    # With --exceptions:goto the stack is unwound before anything shows that nobody handles it.
    "nim": RuntimeErrors(
        functions=("raiseExceptionEx",),
        report=re.compile(
            r"Error: unhandled exception: (?P<message>.*?) \[(?P<type>[\w.]+)\]$", re.DOTALL
        ),
        may_be_handled=frozenset({"raiseExceptionEx"}),
    ),
}
_BY_FUNCTION = {name: one for one in RUNTIME_ERRORS.values() for name in one.functions}


def runtime_function(names: Sequence[str]) -> str | None:
    """Return the runtime's function among the innermost functions of a stack."""
    return next((one for one in names[:_INNERMOST] if one in _BY_FUNCTION), None)


def may_be_handled(function: str) -> bool:
    """Return whether the program may go on after a call of a runtime's function."""
    return function in _BY_FUNCTION[function].may_be_handled


def read_report(function: str, lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the type and the message in the last report of a function's runtime."""
    report = _BY_FUNCTION[function].report
    for line in reversed(lines):
        found = report.match(line.strip())
        if found is not None:
            named = found.groupdict()
            return named.get("type") or named.get("kind") or "", (found["message"] or "").strip()
    return None


def complete_by_report(answer: Crash, report: tuple[str, str] | None) -> Crash:
    """Complete an answer by the exception that a compiled language's runtime reported."""
    if report is None or not answer.exit_code:
        return answer
    found = explain_crash(CrashFacts("", exception=report[0], message=report[1]))
    return msgspec.structs.replace(
        answer,
        outcome="crashed",
        cause=found.text,
        kind=found.kind,
        exception=answers.ExceptionView(*report),
        notes=(_BY_REPORT, _TOO_MANY),
    )
