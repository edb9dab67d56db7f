"""Commands that take hold of what runs, or ran, without us; and that let it go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from debugger.backends import choose
from debugger.commands.begin import begin, breakpoint_notes, held, located, maker
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt, command
from debugger.core.state import State
from debugger.errors import DebuggerError
from debugger.session import closing, report, stepping
from debugger.session.session import Session
from debugger.session.stepping import Patience
from debugger.setup import attaching, simulators

_FIRST_STOP_S = 1.0
GROUP = "Sessions"
# In debugpy 1.8.22 the server of an attach before, while it ends, may take the new one along.
_TAKEN_ALONG = "disconnected unexpectedly"


@command("attach", group=GROUP)
async def attach(
    call: Call,
    what: Annotated[
        str | int | None, Arg("PID", "a process; with --core or --connect, the PROGRAM")
    ] = None,
    *,
    name: Annotated[str | None, Opt("--name", help="the one process of this name")] = None,
    core: Annotated[
        str | None, Opt("--core", help="what a program left when it crashed", metavar="FILE")
    ] = None,
    connect: Annotated[
        str | None, Opt("--connect", help="a debug server", metavar="HOST:PORT")
    ] = None,
    simulator: Annotated[
        str | None, Opt("--simulator", help="of Xcode; with --bundle-id, or a PID", metavar="NAME")
    ] = None,
    bundle_id: Annotated[
        str | None, Opt("--bundle-id", help="the app on the simulator", metavar="ID")
    ] = None,
    wait_for: Annotated[bool, Opt("--wait-for", help="wait until the app runs")] = False,
    adapter: Annotated[str | None, Opt("--adapter", help="debug adapter to use")] = None,
    backend: Annotated[str | None, Opt("--backend", help=choose.NAMED)] = None,
    breaks: Annotated[
        tuple[str, ...], Opt("--break", "-b", help="set a breakpoint first", metavar="LOC")
    ] = (),
    pause: Annotated[bool, Opt("--pause", help="stop it, and show where it is")] = False,
    timeout: Annotated[float | None, Opt("--timeout", help="seconds to wait", metavar="S")] = None,
) -> answers.Answer:
    """Attach to a running process, an app on a simulator, a core file or a debug server.

    A process runs on unless --pause is given. A name is that of the process, of its executable, or
    of its script. The adapter is chosen by what the process is, or by who listens.
    """
    patience = call.patience(timeout, ends_idle=False)
    pid = str(what) if what is not None else None
    app = None
    if simulator is not None or bundle_id is not None or wait_for:
        attaching.check_alone(name, core, connect)
        wait_s = (simulators.WAIT_S if timeout is None else timeout) if wait_for else None
        sought = simulators.Wanted(simulator, bundle_id, pid, wait_s)
        app = await simulators.app(call.env, sought, patience.interrupted)
        pid = app.pid
    wanted = attaching.Wanted(
        cwd=call.cwd,
        env=call.env,
        what=pid,
        simulator=app.udid if app is not None else None,
        name=name,
        core=core,
        connect=connect,
        adapter=adapter,
        backend=choose.select(backend, call.env, call.config.defaults.backend),
        pause=pause,
        adapters=call.config.adapters,
        held=held(call),
    )
    prepared = await located(wanted, hint="debugger attach --connect ADDRESS:PORT")
    answer = await _begun(call, prepared, breaks, patience)
    where = (app.note,) if app is not None else ()
    return msgspec.structs.replace(answer, notes=(*answer.notes, *where))


async def _begun(
    call: Call, prepared: attaching.Prepared, breaks: tuple[str, ...], patience: Patience
) -> answers.Stop:
    target = prepared.target
    specs = [call.spec(words, near=[], current=None, program=target.program) for words in breaks]
    try:
        try:
            session = await _session(call, prepared, specs)
        except DebuggerError as error:
            if _TAKEN_ALONG not in error.message:
                raise
            session = await _session(call, prepared, specs)
    except DebuggerError as error:
        raise attaching.explained(error, prepared) from error
    unbound = breakpoint_notes(session)
    # A Node that waits for a debugger (--inspect-brk) stands still without being asked to.
    if target.pause or session.state is State.STOPPED:
        answer = await stepping.wait(session, patience, after=0)
    elif specs:
        # A program that a server held begins now, and may be at a breakpoint at once.
        soon = Patience(min(_FIRST_STOP_S, patience.seconds), patience.interrupted)
        answer = await stepping.wait(session, soon, after=0)
    else:
        answer = report.running(session, waited_s=None)
    return msgspec.structs.replace(answer, notes=(*answer.notes, *prepared.notes, *unbound))


async def _session(call: Call, prepared: attaching.Prepared, specs: Sequence[Spec]) -> Session:
    session = await call.sessions.create(
        prepared.target, maker(call, prepared.profile), name=call.session_name
    )
    for spec in specs:
        session.breakpoints.add(spec)
    await begin(call, session)
    return session


@command("detach", group=GROUP)
async def detach(call: Call) -> answers.Answer:
    """Let the program go: end the session, and leave it running."""
    session = call.session()
    # What has ended, or lost its debugger, is forgotten all the same.
    fate = await closing.let_go(call.sessions, session)
    return answers.Ended(
        ended=(session.name,), detached=fate.goes_on, pid=session.pid, notes=fate.notes
    )
