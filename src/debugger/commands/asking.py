"""Defines the arguments that all questions share: the run, the adapter, the evidence kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Protocol, TypeVar

import msgspec
from msgspec import Struct

from debugger.backends import choose
from debugger.backends.base import Attach, Launch
from debugger.backends.dap.profile import Profile
from debugger.commands.begin import held, located, machine, maker, with_default
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt
from debugger.errors import Code, DebuggerError
from debugger.questions.asking import Question
from debugger.session.idle_watch import QUESTION_LIMIT
from debugger.session.stepping import Patience
from debugger.setup import attaching, launching
from debugger.targets import command as commands
from debugger.targets.program import look

GROUP = "Questions"
_TIMEOUT_S = 60.0
_KEPT_TOKENS = 4000
EMPTY = "/dev/null"
# Python's own words for a crash in compiled code, which its debugger does not see.
_OWN_WORDS = ("PYTHONFAULTHANDLER", "1")

Words = Annotated[tuple[str, ...], Arg("CMD", "what to run, after --")]
Pid = Annotated[int | None, Opt("--pid", help="what runs already", metavar="N")]
Timeout = Annotated[float | None, Opt("--timeout", help="seconds to run (60)", metavar="S")]
Stdin = Annotated[
    str | None, Opt("--stdin", help="file for its standard input, else empty", metavar="FILE")
]
Cwd = Annotated[str | None, Opt("--cwd", help="directory to run in", metavar="D")]
Env = Annotated[tuple[str, ...], Opt("--env", help="change the environment", metavar="K=V")]
Adapter = Annotated[str | None, Opt("--adapter", help="debug adapter to use")]
Backend = Annotated[str | None, Opt("--backend", help=" or ".join(choose.BACKENDS))]


class Asked(Struct, frozen=True):
    """What every question takes: what is run, how, and for how long."""

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

    def command(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the command line that asks it again, `own` its arguments and options."""
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


class Breakpoints(Protocol):
    """What a question has to stop at in the programs of a language."""

    def __call__(self, language: str, *, keep: bool) -> tuple[Spec, ...]:
        """Return the breakpoints; with `keep` the session is left where the answer was found."""


def nowhere(language: str, *, keep: bool) -> tuple[Spec, ...]:  # noqa: ARG001 - Breakpoints
    """Stop nowhere of itself."""
    return ()


async def question(call: Call, asked: Asked, breakpoints: Breakpoints = nowhere) -> Question:
    """Return what is to be run for a question; `breakpoints` are those for a language.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND, each with what to do.
    """
    patience = _patience(call, asked)
    if asked.core is not None and asked.pid is not None:
        raise DebuggerError(
            Code.USAGE,
            "--core or --pid, not both",
            hint=f"debugger {asked.verb} --core FILE PROGRAM",
        )
    if asked.core is not None or asked.pid is not None:
        prepared = await _attached(call, asked)
        target: Launch | Attach = prepared.target
        profile, program = prepared.profile, prepared.target.program
        language = look(program).language if program else ""
    else:
        wanted = _wanted(call, asked)
        launch, profile = launching.prepare(with_default(call, wanted))
        if wanted.python is not None and launch.python is not None:
            await launching.check_python(launch)
        target = launch
        language = "python" if launch.program is None else look(launch.program).language
    return Question(
        sessions=call.sessions,
        target=target,
        make_backend=maker(call, profile),
        name=asked.verb,
        patience=patience,
        keep=asked.keep,
        breakpoints=breakpoints(language, keep=asked.keep),
        adapter=profile.name,
        language=language,
        languages=tuple(profile.languages),
    )


def _patience(call: Call, asked: Asked) -> Patience:
    """Return how long a question may run; a server gets some time for a first request."""
    patience = call.patience(_TIMEOUT_S if asked.timeout is None else asked.timeout)
    if asked.pid is not None:
        return replace(patience, idle_limits={})
    if asked.timeout is not None:
        return patience
    return replace(patience, idle_limits={**patience.idle_limits, **QUESTION_LIMIT})


_Answer = TypeVar("_Answer", bound=answers.Answer)


def kept(
    call: Call, again: Sequence[str], answer: _Answer, *, summary: str, files: Iterable[str]
) -> _Answer:
    """Keep an answer as evidence, and give it its id.

    `again` is the command that asks it again, `files` are those that it quotes.
    """
    number = call.evidence.keep(
        again,
        call.cwd,
        summary=summary,
        text=call.as_text(answer, _KEPT_TOKENS),
        files=files,
    )
    return msgspec.structs.replace(answer, evidence=number)


def options_of(*pairs: tuple[str, str | float | None]) -> list[str]:
    """Return options with their values, but for those that were not given."""
    return [
        word
        for flag, one in pairs
        if one is not None
        for word in (flag, f"{one:g}" if isinstance(one, float) else str(one))
    ]


def _wanted(call: Call, asked: Asked) -> launching.Wanted:
    env = call.env
    read = commands.read(asked.words, machine(call), verb=asked.verb)
    changed = [*(f"{name}={value}" for name, value in read.env), *asked.env]
    program, module, args, python = read.program, read.module, read.args, read.python
    profiles = choose.profiles(call.config.adapters)
    profile = choose.profile(asked.adapter, profiles) if asked.adapter is not None else None
    if read.interpreter and _is_for_the_interpreter(profile, asked.backend):
        program, *rest = read.interpreter
        module, args, python = None, tuple(rest), None
    if read.interpreter and "PYTHONFAULTHANDLER" not in env:
        changed.insert(0, "=".join(_OWN_WORDS))
    return launching.Wanted(
        cwd=call.cwd,
        env=env,
        program=program if module is None else None,
        module=module,
        args=args,
        adapter=asked.adapter,
        backend=choose.select(asked.backend, env, call.config.defaults.backend),
        python=python,
        stdin=asked.stdin if asked.stdin is not None else EMPTY,
        changed_env=tuple(changed),
        changed_cwd=asked.cwd,
        adapters=call.config.adapters,
        verb=asked.verb,
    )


def _is_for_the_interpreter(profile: Profile | None, backend: str | None) -> bool:
    """Tell whether what was chosen debugs compiled code: then the interpreter is the program."""
    if backend not in {None, choose.DAP}:
        return True
    return profile is not None and not {"python", "javascript"} & set(profile.languages)


async def _attached(call: Call, asked: Asked) -> attaching.Prepared:
    if asked.core is not None and len(asked.words) != 1:
        raise DebuggerError(
            Code.USAGE,
            "a core file needs the program that left it",
            hint=f"debugger {asked.verb} --core FILE PROGRAM",
        )
    if asked.pid is not None and asked.words:
        raise DebuggerError(
            Code.USAGE,
            "--pid or a command, not both",
            hint=f"debugger {asked.verb} --pid {asked.pid}",
        )
    wanted = attaching.Wanted(
        cwd=call.cwd,
        env=call.env,
        what=str(asked.pid) if asked.pid is not None else asked.words[0],
        core=asked.core,
        adapter=asked.adapter,
        backend=choose.select(asked.backend, call.env, call.config.defaults.backend),
        adapters=call.config.adapters,
        held=held(call),
    )
    return await located(wanted, hint=f"debugger {asked.verb} --pid N")
