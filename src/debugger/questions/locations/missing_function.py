"""Describes a function that the program does not have, and how the question is asked instead.

All questions say it alike: what was searched, which names are near, the command with the nearest
name, and that FILE:LINE names any function.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from debugger.model import answers
from debugger.model.debugger_words import Runtime
from debugger.model.location import NO_FUNCTION
from debugger.symbols.function_definitions import find_definitions, near_functions

_NEAR_MAX = 4
# Of these `path` records no runs.
_WITHOUT_PATH = frozenset({Runtime.JAVA, Runtime.RUBY, Runtime.PHP})


def suggest_what_ran(runtime: Runtime) -> str:
    """Return the hint for a location that a run did not come to, in a language's own questions."""
    if runtime in _WITHOUT_PATH:
        return "debugger probe --at LOC EXPR -- CMD, LOC an earlier line, tells how far it came"
    return "debugger path -- CMD shows what ran"


def describe_near(why: str, near: Sequence[str]) -> str:
    """Return the reason that a location does not bind, with the names that are near."""
    return f"{why}; there is {', '.join(near[:_NEAR_MAX])}" if near else why


def repeat_question(words: str, near: Sequence[str], runtime: Runtime = Runtime.NATIVE) -> str:
    """Return the hint to repeat a question at the nearest name, else at FILE:LINE.

    `words` is the command up to the function: `debugger who-wrote x --at`.
    """
    if not near:
        return f"{words} FILE:LINE -- CMD; {suggest_what_ran(runtime)}"
    return f"{words} {shlex.quote(near[0])} -- CMD (or FILE:LINE)"


def missing_name(stop: answers.Stop) -> tuple[str, tuple[str, ...]] | None:
    """Return why a stop's first breakpoint is on no function, with near names; None if it is."""
    for view in stop.unbound:
        if isinstance(view.why_unbound, str) and view.why_unbound.startswith(NO_FUNCTION):
            near = view.near_names if isinstance(view.near_names, tuple) else ()
            return view.why_unbound, near
    return None


def search_program(program: str | None, name: str) -> tuple[str, tuple[str, ...]] | None:
    """Return that a compiled program has no such function, with near names; None if it has one."""
    if program is None or not name or find_definitions(program, name):
        return None
    near = near_functions(program, name)
    return f"{NO_FUNCTION} {name} in {describe_program(program)}", near


def describe_program(program: str | None) -> str:
    """Name what a native debugger searches for a function."""
    return f"the program ({Path(program).name}, and its libraries)" if program else "the program"
