"""Commands about sessions: begin, end, list, choose."""

from __future__ import annotations

import os.path
from typing import Annotated

import msgspec
from msgspec import UNSET

from debugger.backends import choose
from debugger.backends.base import Attach, Launch
from debugger.commands.begin import begin, breakpoint_notes, maker, unmanaged, with_default
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.core.model import Reason
from debugger.session import closing, looking, report, stepping
from debugger.session.family import descendants, root
from debugger.session.look import place_of, program_of, strangers
from debugger.session.session import Session
from debugger.session.standing import runs
from debugger.setup import launching

GROUP = "Sessions"
_ARGS_MAX = 20


@command("start", group=GROUP)
async def start(
    call: Call,
    program: Annotated[str | None, Arg("PROGRAM", "a compiled program or a script")] = None,
    args: Annotated[tuple[str, ...], Arg("ARGS", "its arguments, after --")] = (),
    *,
    module: Annotated[str | None, Opt("--module", "-m", help="run a Python module")] = None,
    adapter: Annotated[str | None, Opt("--adapter", help="debug adapter to use")] = None,
    backend: Annotated[str | None, Opt("--backend", help=choose.NAMED)] = None,
    stop_on_entry: Annotated[bool, Opt("--stop-on-entry", help="stop at the beginning")] = False,
    breaks: Annotated[
        tuple[str, ...], Opt("--break", "-b", help="set a breakpoint first", metavar="LOC")
    ] = (),
    cwd: Annotated[str | None, Opt("--cwd", help="directory to run in", metavar="D")] = None,
    env: Annotated[
        tuple[str, ...], Opt("--env", help="change the environment", metavar="K=V")
    ] = (),
    stdin: Annotated[
        str | None, Opt("--stdin", help="file for its standard input", metavar="FILE")
    ] = None,
    python: Annotated[
        str | None, Opt("--python", help="Python to run it with", metavar="P")
    ] = None,
    no_wait: Annotated[bool, Opt("--no-wait", help="do not wait for a stop")] = False,
    timeout: Annotated[float | None, Opt("--timeout", help="seconds to wait", metavar="S")] = None,
) -> answers.Answer:
    """Start a program and run it to the first stop or its end.

    The adapter is chosen by what the program is. The program gets your directory and environment;
    a Python program runs with your virtual environment's Python.
    """
    selected = choose.select(backend, call.env, call.config.defaults.backend)
    patience = call.patience(timeout)
    wanted = launching.Wanted(
        cwd=call.cwd,
        env=call.env,
        program=program,
        module=module,
        args=args,
        adapter=adapter,
        backend=selected,
        python=python,
        stdin=stdin,
        stop_on_entry=stop_on_entry,
        changed_env=env,
        changed_cwd=cwd,
        adapters=call.config.adapters,
    )
    wanted = unmanaged(call, wanted)
    launch, profile = launching.prepare(with_default(call, wanted))
    if python is not None and launch.python is not None:
        await launching.check_python(launch)
    current = launching.default_file(launch)
    near = [launch.cwd, os.path.dirname(launch.program or "")]
    specs = [
        call.spec(words, near=near, current=current, program=launch.program) for words in breaks
    ]
    session = await call.sessions.create(launch, maker(call, profile), name=call.session_name)
    session.look.file = current
    for spec in specs:
        session.breakpoints.add(spec)
    await begin(call, session)
    if no_wait:
        answer = report.running(session, waited_s=None)
    else:
        answer = await stepping.wait(session, patience, after=0)
    if answer.reason == Reason.EXIT.value:
        return answer  # the end tells of unbound breakpoints itself
    return msgspec.structs.replace(answer, notes=(*answer.notes, *breakpoint_notes(session)))


@command("stop", group=GROUP)
async def stop(
    call: Call,
    *,
    every: Annotated[bool, Opt("--all", help="every session, and the daemon")] = False,
    kill: Annotated[bool, Opt("--kill", help="end what was attached to, too")] = False,
) -> answers.Answer:
    """End the session: its debugger, and the program if `start` began it.

    A process that was attached to runs on, as after `detach`, unless --kill is given.
    """
    if every:
        return await _stop_all(call, kill=kill)
    session = call.session()
    if isinstance(session.target, Attach):
        return await _stop_attached(call, session, kill=kill)
    names = [session.name, *(one.name for one in descendants(session) if one.is_live)]
    parent = session.parent
    notes: tuple[str, ...] = ()
    if parent is not None and parent.is_live:
        notes = (f"{parent.name} goes on: debugger stop --session {root(session).name} ends all",)
    closed = await call.sessions.close(session, kill=True)
    return answers.Ended(
        ended=tuple(names),
        pid=session.pid,
        killed=strangers(closed.killed, session.pid),
        notes=notes,
    )


async def _stop_all(call: Call, *, kill: bool) -> answers.Ended:
    attached = [one for one in call.sessions.listed() if isinstance(one.target, Attach)]
    live = [one for one in attached if one.is_live and runs(one.target) and one.parent is None]
    killed: list[str] = []
    notes: list[str] = []
    for one in live:
        if kill:
            killed.append(one.name)
            notes += (await closing.kill_attached(call.sessions, one)).notes
        else:
            notes.append(f"{one.name} was attached to, and stays: pid {one.pid}")
    ended = await call.sessions.close_all()
    call.stop_daemon()
    lost = call.evidence.ids
    if lost:
        notes.append(f"lost with the daemon: evidence {', '.join(lost)}")
    return answers.Ended(ended=(*killed, *ended), notes=tuple(notes))


async def _stop_attached(call: Call, session: Session, *, kill: bool) -> answers.Ended:
    names = (session.name, *(one.name for one in descendants(session) if one.is_live))
    by = closing.kill_attached if kill else closing.let_go
    fate = await by(call.sessions, session)
    notes = fate.notes
    if fate.goes_on and not kill:
        notes = (*notes, "it was attached to, and stays: stop --kill ends such a program")
    return answers.Ended(
        ended=names, detached=fate.goes_on and not kill, pid=session.pid, notes=notes
    )


@command("restart", group=GROUP)
async def restart(
    call: Call,
    *,
    no_wait: Annotated[bool, Opt("--no-wait", help="do not wait for a stop")] = False,
    timeout: Annotated[float | None, Opt("--timeout", help="seconds to wait", metavar="S")] = None,
) -> answers.Answer:
    """Run the program again with the same arguments and breakpoints."""
    session = call.session()
    patience = call.patience(timeout)
    cursor = await session.do(session.restart)
    if no_wait:
        return report.running(session, waited_s=None)
    return await stepping.wait(session, patience, after=cursor)


@command("status", group=GROUP, reads_only=True)
async def status(call: Call) -> answers.Answer:
    """Show the session: its state, program, breakpoints, unread output."""
    return describe(call.session())


def describe(session: Session) -> answers.Status:
    """Describe a session as it is now."""
    target = session.target
    launch = target if isinstance(target, Launch) else None
    exited = session.exited
    paused = looking.paused_alone(session)
    return answers.Status(
        session=session.name,
        state=session.state.value,
        program=program_of(target),
        args=launch.args[:_ARGS_MAX] if launch is not None else (),
        cwd=target.cwd,
        pid=session.pid,
        adapter=session.adapter,
        backend=session.backend_kind,
        breakpoints=len(session.breakpoints.listed()),
        unread_output=len(session.timeline.lines(since=session.cursors.asked).lines),
        last_stop=place_of(session.last_stop, session.look.frame) or UNSET,
        exit_code=exited.code if exited is not None and exited.code is not None else UNSET,
        signal=exited.signal if exited is not None and exited.signal else UNSET,
        error=session.error or UNSET,
        parent=session.parent.name if session.parent is not None else UNSET,
        crash=session.crash or UNSET,
        simulator=(target.simulator if isinstance(target, Attach) else None) or UNSET,
        paused_threads=paused if paused is not None and session.is_live else UNSET,
    )


@command("sessions", group=GROUP, reads_only=True)
async def sessions(call: Call) -> answers.Answer:
    """List the sessions; the current one is marked."""
    return answers.Sessions(
        sessions=tuple(describe(one) for one in call.sessions.listed()),
        current=call.sessions.current,
    )


@command("use", group=GROUP)
async def use(call: Call, name: Annotated[str, Arg("NAME", "a session")]) -> answers.Answer:
    """Make a session the current one."""
    return describe(call.sessions.choose(name))
