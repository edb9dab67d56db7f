"""Why does a program hang: one that runs already, or one started for it?"""

from __future__ import annotations

from typing import Annotated

import msgspec

from debugger.backends import choose
from debugger.commands.asking import Asked, question
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt, command
from debugger.errors import Code, DebuggerError
from debugger.questions.hang import hanging

GROUP = "Questions"
_AFTER_S = 3.0
_AFTER_MAX = 3600.0
_KEPT_TOKENS = 4000


@command("hang", group=GROUP)
async def hang(
    call: Call,
    words: Annotated[tuple[str, ...], Arg("CMD", "what to run, after --")] = (),
    *,
    pid: Annotated[int | None, Opt("--pid", help="what runs already", metavar="N")] = None,
    after: Annotated[
        float | None, Opt("--after", help="seconds after which CMD is looked at (3)", metavar="S")
    ] = None,
    stdin: Annotated[
        str | None, Opt("--stdin", help="file for its standard input, else empty", metavar="FILE")
    ] = None,
    cwd: Annotated[str | None, Opt("--cwd", help="directory to run in", metavar="D")] = None,
    env: Annotated[
        tuple[str, ...], Opt("--env", help="change the environment", metavar="K=V")
    ] = (),
    adapter: Annotated[str | None, Opt("--adapter", help="debug adapter to use")] = None,
    backend: Annotated[str | None, Opt("--backend", help=" or ".join(choose.BACKENDS))] = None,
) -> answers.Answer:
    """Say why a program hangs: deadlock, busy loop, what it waits for.

    Its processor time is measured and its stacks are sampled for a few seconds. Locks are told with
    who holds them, descriptors with their other end, loops with what changes in them and what does
    not; Python's tasks and goroutines are told as threads are. What was started is ended; what was
    attached to runs on.
    """
    after_s = _AFTER_S if after is None else after
    if not 0 <= after_s <= _AFTER_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"--after is in seconds, from 0 to {_AFTER_MAX:g}, not {after_s:g}",
            hint="debugger hang --after 5 -- CMD",
        )
    if after is not None and pid is not None:
        raise DebuggerError(
            Code.USAGE, "--after is for a command", hint=f"debugger hang --pid {pid}"
        )
    asked = Asked(
        verb="hang",
        words=words,
        pid=pid,
        stdin=stdin,
        cwd=cwd,
        env=env,
        adapter=adapter,
        backend=backend,
    )
    wanted = await question(call, asked, _no_breakpoints)
    answer = await hanging.hang(wanted, after_s)
    own = asked.command()
    said = own if after is None else (*own[:2], "--after", f"{after:g}", *own[2:])
    frames = [answer.frame, *(one for group in answer.groups for one in group.frames)]
    number = call.evidence.keep(
        said,
        call.cwd,
        summary=answer.cause,
        text=call.as_text(answer, _KEPT_TOKENS),
        files=dict.fromkeys(one.file for one in frames if one is not None and one.file),
    )
    return msgspec.structs.replace(answer, evidence=number)


def _no_breakpoints(language: str, *, keep: bool) -> tuple[Spec, ...]:  # noqa: ARG001 - Breakpoints
    return ()
