"""Commands about the tool itself: its daemon, its configuration, what it needs."""

from __future__ import annotations

from typing import Annotated

from debugger import config
from debugger.errors import DebuggerError, ErrorCode
from debugger.install import doctor
from debugger.model import answers
from debugger.model.command_registry import Argument, Option, register_command
from debugger.questions.runner.command_call import CommandCall

GROUP = "The tool"


@register_command("daemon status", group=GROUP, reads_only=True)
async def daemon_status(call: CommandCall) -> answers.Answer:
    """Show whether the daemon runs, since when, and its sessions."""
    raise _not_here(call)


@register_command("daemon stop", group=GROUP)
async def daemon_stop(call: CommandCall) -> answers.Answer:
    """End every session and the daemon."""
    raise _not_here(call)


@register_command("daemon logs", group=GROUP, reads_only=True)
async def daemon_logs(call: CommandCall) -> answers.Answer:
    """Show the end of the daemon's log."""
    raise _not_here(call)


def _not_here(call: CommandCall) -> DebuggerError:
    # Client and server answer these themselves: they must work without a daemon, or with one that
    # hangs. They are commands for the help, the reference and the completion.
    del call
    return DebuggerError(ErrorCode.INTERNAL, "the daemon's own commands do not come here")


@register_command("mcp", group=GROUP)
async def mcp(
    call: CommandCall,
    *,
    toolset: Annotated[str, Option("--toolset", help="core, xcodebuildmcp or all")] = "core",
    http: Annotated[
        str | None, Option("--http", help="serve there, on this machine", metavar="HOST:PORT")
    ] = None,
) -> answers.Answer:
    """Serve these sessions to a program that speaks MCP, over standard input and output."""
    del toolset, http
    raise _not_here(call)  # a process of its own, whose streams are the client's


@register_command("skill", group=GROUP, reads_only=True)
async def skill(
    call: CommandCall,
    *,
    show: Annotated[bool, Option("--print", help="print it, as without options")] = False,
    install: Annotated[
        str | None, Option("--install", help="put it into this folder of skills", metavar="DIR")
    ] = None,
) -> answers.Answer:
    """Show how an agent is to work with this command, as a skill that it can read."""
    del show, install
    raise _not_here(call)


@register_command("config", group=GROUP, reads_only=True)
async def show_config(
    call: CommandCall,
    *,
    path: Annotated[bool, Option("--path", help="only where the file is")] = False,
) -> answers.Answer:
    """Show the configuration as it holds."""
    file = config.config_path(call.env)
    if path:
        return answers.Text(message=str(file))
    defaults = dict(config.flatten_config(config.Config()))
    return answers.Settings(
        path=str(file),
        exists=file.exists(),
        settings=tuple(
            answers.Setting(name, value, "default" if defaults.get(name) == value else "file")
            for name, value in config.flatten_config(call.config)
        ),
    )


@register_command("doctor", group=GROUP, reads_only=True)
async def show_doctor(
    call: CommandCall, name: Annotated[str | None, Argument("ADAPTER", "only this one")] = None
) -> answers.Answer:
    """Check what is here to debug with; each adapter is really started."""
    defaults = call.config.defaults
    return await doctor.check_machine(
        call.env,
        call.config.adapters,
        only=name,
        scratch_root=call.scratch_root,
        backend=defaults.backend,
        adapter=defaults.adapter,
    )
