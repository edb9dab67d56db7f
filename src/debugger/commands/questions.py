"""Questions about a whole run: one command runs it, answers, and leaves nothing behind."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec

from debugger import paths
from debugger.commands.asking import (
    GROUP,
    Adapter,
    Asked,
    Backend,
    Cwd,
    Env,
    Stdin,
    Timeout,
    kept,
    question,
)
from debugger.commands.call import Call
from debugger.commands.test import run_tests
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.errors import Code, DebuggerError
from debugger.questions import crashing, found
from debugger.questions.evidence import files_of


@command("crash", group=GROUP)
async def crash(
    call: Call,
    words: Annotated[
        tuple[str, ...], Arg("CMD", "what to run, after --; with --core, the program")
    ] = (),
    *,
    core: Annotated[
        str | None, Opt("--core", help="what a program left when it crashed", metavar="FILE")
    ] = None,
    pid: Annotated[
        int | None, Opt("--pid", help="wait for the crash of what runs", metavar="N")
    ] = None,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
    adapter: Adapter = None,
    backend: Backend = None,
    keep: Annotated[bool, Opt("--keep", help="leave it stopped where it crashed")] = False,
    raised: Annotated[
        bool, Opt("--raised", help="stop at the first exception in its own code, also a caught one")
    ] = False,
    test: Annotated[bool, Opt("--test", help="CMD runs tests: the same as debugger test")] = False,
) -> answers.Answer:
    """Run a command to its crash, and say why it crashed.

    CMD is what you would type: ./prog ARGS, python3 script.py, python -m MODULE, node x.js, a
    script with a shebang, a Go file or package. A signal, an uncaught exception, a panic, a failed
    assertion or a sanitizer's report is answered with its cause, source, values and callers. What
    was started is ended; what was attached to runs on.
    """
    if test:
        if any(one is not None for one in (core, pid, adapter, backend)) or raised:
            raise DebuggerError(
                Code.USAGE, "--test takes a command alone", hint="debugger test -- CMD"
            )
        tested: answers.Tested = await run_tests(
            call, words, timeout=timeout, stdin=stdin, cwd=cwd, env=env, keep=keep
        )
        return tested
    asked = Asked(
        verb="crash",
        words=words,
        core=core,
        pid=pid,
        timeout=timeout,
        stdin=stdin,
        cwd=cwd,
        env=env,
        adapter=adapter,
        backend=backend,
        keep=keep,
    )
    asking = await question(call, asked, found.breakpoints)
    answer = await crashing.crash(asking, takes_raised=raised)
    frames = [answer.frame, *(one.frame for one in answer.callers)]
    summary = answer.cause or answer.outcome
    own = ["--raised"] if raised else []
    return kept(call, asked.command(own), answer, summary=summary, files=files_of(frames))


@command("evidence list", group=GROUP, aliases=("evidence",), reads_only=True)
async def evidence_list(call: Call) -> answers.Answer:
    """List the answers of questions, and which of them are stale."""
    return call.evidence.listed()


@command("evidence show", group=GROUP, reads_only=True)
async def evidence_show(
    call: Call, number: Annotated[str, Arg("ID", "an answer: e1")]
) -> answers.Answer:
    """Show an answer again, as it was; it is stale if its source files changed since."""
    return call.evidence.shown(number)


@command("evidence export", group=GROUP, reads_only=True)
async def evidence_export(
    call: Call,
    file: Annotated[str | None, Arg("FILE", "where to write it; none: it is printed")] = None,
) -> answers.Answer:
    """Write all answers as one Markdown report, with the commands that reproduce them."""
    found = call.evidence.report()
    if file is None:
        return found
    path = os.path.realpath(os.path.join(call.cwd, os.path.expanduser(file)))
    problem = "it is not a file" if os.path.exists(path) and not os.path.isfile(path) else None
    try:
        if problem is None:
            paths.write_private(path, found.text.encode())
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        raise DebuggerError(
            Code.NOT_FOUND,
            f"cannot write {path}: {problem}",
            hint="debugger evidence export prints it",
        )
    return msgspec.structs.replace(found, file=path, text="")
