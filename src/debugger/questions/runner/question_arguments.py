"""Defines the arguments that all questions share: the target, the adapter, the runs to compare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import Struct

from debugger.backends.backend_names import BACKENDS
from debugger.model.command_registry import Argument, Option, OptionGroup, Parameter

GROUP = "Questions"

Words = Annotated[tuple[str, ...], Argument("CMD", "what to run, after --")]
Pid = Annotated[int | None, Option("--pid", help="a process that runs already", metavar="N")]
Force = Annotated[bool, Option("--force", help="replace FILE also if debugger did not write it")]
Versus = Annotated[
    tuple[str, ...],
    Option("--vs", help="another command, quoted; or after --: CMD --vs CMD", metavar="CMD"),
]
Save = Annotated[
    str | None,
    Option("--save", help="keep the run: --vs run:NAME compares with it", metavar="NAME"),
]
# How the values of a probe are collected.
Means = Literal["recorder", "logpoints", "frida", "stops"]


class QuestionOptions(Struct, frozen=True):
    """The options of every question: the target, the adapter, the time limit."""

    verb: str
    words: tuple[str, ...] = ()
    core: str | None = None
    pid: int | None = None
    timeout: float | None = None
    stdin: str | None = None
    cwd: str | None = None
    env: tuple[str, ...] = ()
    adapter: str | None = None
    backend: str | None = None
    keep: bool = False

    def repeat_command(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the command line that repeats the question, `own` its arguments and options."""
        options = options_of(
            ("--core", self.core),
            ("--pid", self.pid),
            ("--timeout", self.timeout),
            ("--stdin", self.stdin),
            ("--cwd", self.cwd),
            *(("--env", pair) for pair in self.env),
            ("--adapter", self.adapter),
            ("--backend", self.backend),
        )
        words = ["--", *self.words] if self.words else []
        return ("debugger", self.verb, *own, *options, *words)


_RUN_OPTIONS: tuple[tuple[str, Any, Any, Option], ...] = (
    (
        "timeout",
        float | None,
        None,
        Option("--timeout", help="seconds to run (60)", metavar="S"),
    ),
    (
        "stdin",
        str | None,
        None,
        Option("--stdin", help="file for its standard input, else empty", metavar="FILE"),
    ),
    ("cwd", str | None, None, Option("--cwd", help="directory to run in", metavar="D")),
    ("env", tuple[str, ...], (), Option("--env", help="change the environment", metavar="K=V")),
    ("adapter", str | None, None, Option("--adapter", help="debug adapter to use")),
    (
        "backend",
        str | None,
        None,
        Option("--backend", help=" or ".join(BACKENDS)),
    ),
)


def run_options(*without: str, timeout_help: str | None = None) -> OptionGroup:
    """Return the options of a question's run, without those that it does not have."""
    parameters = []
    for name, kind, default, about in _RUN_OPTIONS:
        if name in without:
            continue
        is_changed = name == "timeout" and timeout_help is not None
        shown = (
            about.changed(help=timeout_help or "", also=about.also, is_hidden=False)
            if is_changed
            else about
        )
        parameters.append(Parameter(name, kind, default, shown))

    def build(command: str, **given: Any) -> QuestionOptions:
        return QuestionOptions(verb=command, **given)

    return OptionGroup(tuple(parameters), build)


# Of a question that a debugger answers, and of one that records by its own means.
DEBUGGED_RUN = run_options()
RECORDED_RUN = run_options("adapter", "backend")
DEFAULT_RUN = QuestionOptions(verb="")


def options_of(*pairs: tuple[str, str | float | None]) -> list[str]:
    """Return options with their values, without those that were not given."""
    return [
        word
        for flag, one in pairs
        if one is not None
        for word in (flag, f"{one:g}" if isinstance(one, float) else str(one))
    ]
