"""Commands about the tool itself: its daemon, its configuration, what it needs."""

from __future__ import annotations

from typing import Annotated

from debugger import config
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.errors import Code, DebuggerError
from debugger.setup import doctor

GROUP = "The tool"


@command("daemon status", group=GROUP, reads_only=True)
async def daemon_status(call: Call) -> answers.Answer:
    """Show whether the daemon runs, since when, and its sessions."""
    raise _not_here(call)


@command("daemon stop", group=GROUP)
async def daemon_stop(call: Call) -> answers.Answer:
    """End every session and the daemon."""
    raise _not_here(call)


@command("daemon logs", group=GROUP, reads_only=True)
async def daemon_logs(call: Call) -> answers.Answer:
    """Show the end of the daemon's log."""
    raise _not_here(call)


def _not_here(call: Call) -> DebuggerError:
    # Client and server answer these themselves: they must work without a daemon, or with one that
    # hangs. They are commands for the help, the reference and the completion.
    del call
    return DebuggerError(Code.INTERNAL, "the daemon's own commands do not come here")


@command("mcp", group=GROUP)
async def mcp(
    call: Call,
    *,
    toolset: Annotated[str, Opt("--toolset", help="core, xcodebuildmcp or all")] = "core",
    http: Annotated[
        str | None, Opt("--http", help="serve there, on this machine", metavar="HOST:PORT")
    ] = None,
) -> answers.Answer:
    """Serve these sessions to a program that speaks MCP, over standard input and output."""
    del toolset, http
    raise _not_here(call)  # a process of its own, whose streams are the client's


@command("skill", group=GROUP, reads_only=True)
async def skill(
    call: Call,
    *,
    show: Annotated[bool, Opt("--print", help="print it, as without options")] = False,
    install: Annotated[
        str | None, Opt("--install", help="put it into this folder of skills", metavar="DIR")
    ] = None,
) -> answers.Answer:
    """Show how an agent is to work with this command, as a skill that it can read."""
    del show, install
    raise _not_here(call)


@command("config", group=GROUP, reads_only=True)
async def show_config(
    call: Call, *, path: Annotated[bool, Opt("--path", help="only where the file is")] = False
) -> answers.Answer:
    """Show the configuration as it holds."""
    file = config.path(call.env)
    if path:
        return answers.Text(message=str(file))
    defaults = dict(config.flat(config.Config()))
    return answers.Settings(
        path=str(file),
        exists=file.exists(),
        settings=tuple(
            answers.Setting(name, value, "default" if defaults.get(name) == value else "file")
            for name, value in config.flat(call.config)
        ),
    )


@command("doctor", group=GROUP, reads_only=True)
async def show_doctor(
    call: Call, name: Annotated[str | None, Arg("ADAPTER", "only this one")] = None
) -> answers.Answer:
    """Check what is here to debug with; each adapter is really started."""
    defaults = call.config.defaults
    return await doctor.check(
        call.env,
        call.config.adapters,
        only=name,
        scratch_root=call.scratch_root,
        backend=defaults.backend,
        adapter=defaults.adapter,
    )
