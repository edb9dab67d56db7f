"""Which test fails, and why: one command runs the tests of any runner that is known."""

from __future__ import annotations

import asyncio
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec

from debugger.commands.asking import GROUP, Asked, Cwd, Env, Stdin, Timeout, Words, kept, question
from debugger.commands.call import Call
from debugger.commands.recorded import programs
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Opt, command
from debugger.errors import Code, DebuggerError
from debugger.questions import launched
from debugger.questions.asking import Question
from debugger.questions.evidence import files_of
from debugger.questions.testing import others, python, runners
from debugger.questions.testing.setting import Again, Setting
from debugger.setup import launching

_TIMEOUT_S = 60.0


@command("test", group=GROUP)
async def run_tests(
    call: Call,
    words: Words = (),
    *,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
    keep: Annotated[bool, Opt("--keep", help="leave it stopped where the test failed")] = False,
) -> answers.Answer:
    """Run tests; of the first that fails, say why, and where its wrong value came from.

    CMD is what you would type: pytest, python -m unittest, go test, cargo test, node --test, jest,
    vitest, mocha, ctest, or a program of googletest. What failed is told at the assertion in your
    own code: its operands' values, and the lines that made them; other failures by name. Errors of
    the compiler, tests that do not exist, and tests that do not end are told as such.
    """
    asked = Asked(
        verb="test", words=words, timeout=timeout, stdin=stdin, cwd=cwd, env=env, keep=keep
    )
    wanted = runners.read(words)
    if wanted.runner == runners.PYTHON or _is_python(call, asked, wanted):
        answer = await _python(call, asked)
    else:
        answer = await _others(call, asked, wanted)
    callers = [one.frame for one in answer.callers]
    frames = [answer.frame, *callers, *(one.frame for one in answer.made)]
    summary = answer.cause or answer.summary or answer.outcome
    return kept(call, asked.command(), answer, summary=summary, files=files_of(frames))


def _is_python(call: Call, asked: Asked, wanted: runners.Wanted) -> bool:
    """Tell whether a program is a script of Python: by its first line."""
    if wanted.runner != runners.PROGRAM:
        return False
    path = _program(call, asked, wanted)
    with open(path, "rb") as file:
        line = file.readline(200)
    return line.startswith(b"#!") and b"python" in line


async def _python(call: Call, asked: Asked) -> answers.Tested:
    [program] = await programs(call, asked)
    answer = await python.test(program)
    frame = answer.frame
    if not asked.keep or answer.outcome != "failed" or frame is None or frame.file is None:
        return answer
    place = Spec(file=frame.file, line=frame.line)
    again = await question(call, asked, lambda _language, *, keep: (place,) if keep else ())
    return await python.keep(again, answer)


def _program(call: Call, asked: Asked, wanted: runners.Wanted) -> str:
    """Return the path of the runner's program.

    Raises:
        DebuggerError: LAUNCH_FAILED where there is none.
    """
    name = wanted.words[0]
    folder = os.path.join(call.cwd, asked.cwd or "")
    path = os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
    found = path if os.path.isfile(path) else None
    if found is None and "/" not in name:
        found = launching.which(name, call.env, call.cwd)
    if found is None:
        raise DebuggerError(
            Code.LAUNCH_FAILED,
            f"no such command: {name[:60]}",
            hint="debugger test -- pytest, go test, cargo test, node --test, jest, vitest, mocha, "
            "ctest",
        )
    return found


async def _others(call: Call, asked: Asked, wanted: runners.Wanted) -> answers.Tested:
    cwd = os.path.normpath(os.path.join(call.cwd, asked.cwd or ""))
    if not os.path.isdir(cwd):
        raise DebuggerError(
            Code.NOT_FOUND, f"no such directory: {cwd}", hint="debugger test --cwd DIRECTORY -- CMD"
        )
    pairs = launching.environment((*wanted.env, *asked.env), asked.verb)
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=call.scratch_root) as scratch:
        setting = Setting(
            runner=wanted.runner,
            words=_words(call, asked, wanted, cwd),
            cwd=cwd,
            env={**call.env, **pairs},
            seconds=call.patience(_TIMEOUT_S if asked.timeout is None else asked.timeout).seconds,
            scratch=Path(scratch),
            ask=partial(_again, call, asked, tuple(f"{key}={one}" for key, one in pairs.items())),
            stdin=await asyncio.to_thread(_given, call, asked),
            interrupted=call.interrupted,
        )
        return await others.test(setting)


def _given(call: Call, asked: Asked) -> bytes:
    if asked.stdin is None:
        return b""
    return launched.content(Path(os.path.normpath(os.path.join(call.cwd, asked.stdin))))


def _words(call: Call, asked: Asked, wanted: runners.Wanted, cwd: str) -> tuple[str, ...]:
    """Return the words with the program's path; of a script of Node's, Node and the script."""
    if wanted.runner not in runners.SCRIPTS:
        return (_program(call, asked, wanted), *wanted.words[1:])
    name = wanted.runner
    rest = list(wanted.words)
    while os.path.basename(rest[0]).partition(".")[0] != name:
        rest.pop(0)
    script = Path(cwd) / rest[0]
    if not script.is_file():
        folders = [Path(cwd), *Path(cwd).parents]
        beside = [folder / "node_modules" / ".bin" / name for folder in folders]
        there = next((one for one in beside if one.exists()), None)
        on_path = launching.which(name, call.env, call.cwd)
        if there is None and on_path is None:
            raise DebuggerError(
                Code.LAUNCH_FAILED,
                f"{name} is not installed here: there is no node_modules/.bin/{name}",
                hint=f"npm install --save-dev {name}",
            )
        script = there if there is not None else Path(str(on_path))
    node = launching.which("node", call.env, call.cwd) or "node"
    return (node, str(script.resolve()), *rest[1:])


async def _again(
    call: Call, asked: Asked, pairs: tuple[str, ...], again: Again, seconds: float
) -> Question:
    """Return how a test is debugged; its breakpoints are the runner's."""

    def specs(language: str, *, keep: bool) -> tuple[Spec, ...]:
        del language, keep
        return again.specs

    inner = msgspec.structs.replace(
        asked,
        words=again.words,
        cwd=again.cwd,
        env=(*pairs, *again.env),
        timeout=seconds,
    )
    return await question(call, inner, specs)
