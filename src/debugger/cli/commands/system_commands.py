"""Defines the commands for the daemon, the configuration and the adapters."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command

if TYPE_CHECKING:
    from debugger.install.installer import AdapterSetup
    from debugger.model import answers
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


@register_command("daemon connect", group=GROUP)
async def daemon_connect(
    call: CommandCall,
    *,
    stdio: Annotated[bool, Option("--stdio", help="over standard input and output")] = False,
    client: Annotated[
        str, Option("--client", help="whose daemon it is", metavar="NAME")
    ] = "client",
    keep: Annotated[
        float,
        Option("--keep", help="seconds that sessions wait for a connection that broke"),
    ] = 300,
) -> answers.Answer:
    """Serve the debugger of another machine; `--host` there calls it."""
    del stdio, client, keep
    raise _not_here(call)  # `cli.host_pipe`


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
        str | None, Option("--http", help="listen at this local address", metavar="HOST:PORT")
    ] = None,
) -> answers.Answer:
    """Serve these sessions to a program that speaks MCP, over standard input and output."""
    del toolset, http
    raise _not_here(call)  # a process of its own, whose streams are the client's


@register_command("dap", group=GROUP)
async def dap(
    call: CommandCall,
    *,
    listen: Annotated[
        str | None,
        Option("--listen", help="serve editors at this local port", metavar="127.0.0.1:PORT"),
    ] = None,
    editor: Annotated[
        Literal["vscode", "zed", "nvim", "emacs", "helix"] | None,
        Option("--print", help="print what an editor needs"),
    ] = None,
) -> answers.Answer:
    """Serve an editor as a debug adapter, over standard input and output.

    The editor's `attach` with {"session": NAME} joins what is debugged already, without it the
    current session; `launch` starts a program. Editor and command line see the same stops.
    """
    del listen, editor
    raise _not_here(call)  # the connection becomes the editor's: `editors.editor_door`


@register_command("ui", group=GROUP)
async def ui(
    call: CommandCall,
    *,
    port: Annotated[int, Option("--port", help="the local port; default: a free one")] = 0,
    no_open: Annotated[bool, Option("--no-open", help="only print the address")] = False,
) -> answers.Answer:
    """Serve a page on which a person follows the sessions in a browser, and takes over.

    While a person has taken over, commands that act on the program are refused, and `await` waits
    until it is handed back. The page ends with Ctrl-C, or after an hour without a browser.
    """
    del port, no_open
    raise _not_here(call)  # a process of its own: `ui.ui_main`


@register_command("tui", group=GROUP)
async def tui(call: CommandCall) -> answers.Answer:
    """Show the sessions on this terminal, for a person: follow, take over, step, hand back.

    As `ui` does in a browser: source, threads and stack, variables, output, and the answers of
    questions. It needs the extra: pip install 'debugger-cli[tui]'.
    """
    raise _not_here(call)  # a process of its own: `tui.tui_main`


@register_command("skill", group=GROUP, reads_only=True)
async def skill(
    call: CommandCall,
    question: Annotated[str | None, Argument("QUESTION", "show the examples of this one")] = None,
    *,
    show: Annotated[bool, Option("--print", help="print it, as without options")] = False,
    install: Annotated[
        str | None, Option("--install", help="install it into this folder of skills", metavar="DIR")
    ] = None,
) -> answers.Answer:
    """Show the skill that teaches an agent to use this command, or its page of a question."""
    del question, show, install
    raise _not_here(call)


@register_command("config", group=GROUP, reads_only=True)
async def show_config(
    call: CommandCall,
    *,
    path: Annotated[bool, Option("--path", help="show only the path of the file")] = False,
) -> answers.Answer:
    """Show the configuration in effect."""
    from debugger import config
    from debugger.model import answers

    file = config.config_path(call.env)
    if path:
        return answers.Text(message=str(file))
    without_file = config.with_known_adapters(config.Config(), call.env)
    defaults = dict(config.flatten_config(without_file))
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
    call: CommandCall,
    name: Annotated[str | None, Argument("ADAPTER", "only this one")] = None,
    words: Annotated[tuple[str, ...], Argument("CMD", "with --suite: what to run, after --")] = (),
    *,
    adapter: Annotated[str | None, Option("--adapter", help="the same as ADAPTER")] = None,
    suite: Annotated[
        bool, Option("--suite", help="try what it can do, on a program of yours")
    ] = False,
    at: Annotated[
        str | None,
        Option("--at", help="a line that CMD comes to several times", metavar="FILE:LINE"),
    ] = None,
    expr: Annotated[
        str | None, Option("--expr", help="a variable there that changes", metavar="NAME")
    ] = None,
    condition: Annotated[
        str | None,
        Option("--condition", help="true at the second hit; default: NAME == its value then"),
    ] = None,
    raises: Annotated[
        str | None,
        Option("--raises", help="arguments with which CMD raises an exception", metavar="ARGS"),
    ] = None,
    pid: Annotated[
        int | None, Option("--pid", help="a process to attach to, which runs on", metavar="N")
    ] = None,
) -> answers.Answer:
    """Check which adapters are installed; each one is really started.

    With --suite an adapter plays the scenes of a debug session: to a breakpoint, stack, variables,
    steps, the end, conditions, log messages, exceptions. Each has its outcome, and the first
    message of a failure; the exit code is 1 if an essential one (*) does not work.
    """
    from debugger.install import doctor
    from debugger.questions.adapter_suite.suite_request import HINT

    chosen = name or adapter
    given = (at, expr, condition, raises)
    if suite:
        return await _play_suite(call, chosen, words, given, pid)
    if words or pid is not None or any(one is not None for one in given):
        raise _usage_error("a program is for --suite", HINT.format(chosen or "NAME"))
    defaults = call.config.defaults
    return await doctor.check_machine(
        call.env,
        call.config.adapters,
        only=chosen,
        scratch_root=call.scratch_root,
        backend=defaults.backend,
        adapter=defaults.adapter,
    )


async def _play_suite(
    call: CommandCall,
    chosen: str | None,
    words: tuple[str, ...],
    given: tuple[str | None, str | None, str | None, str | None],
    pid: int | None,
) -> answers.Answer:
    from debugger.questions.adapter_suite.adapter_scenes import play_suite
    from debugger.questions.adapter_suite.suite_request import (
        HINT,
        SuiteWords,
        merge_words,
        prepare_suite,
    )

    if chosen is None:
        raise _usage_error("which adapter?", HINT.format("NAME"))
    at, expr, condition, raises = given
    program, *args = words or ("",)
    typed = SuiteWords(
        program, tuple(args), at or "", expr or "", condition or "", _split(raises), pid
    )
    settings = call.config.adapters.get(chosen)
    section = settings.suite if settings is not None else None
    known = msgspec.convert(msgspec.to_builtins(section), SuiteWords) if section else None
    return await play_suite(call, prepare_suite(call, chosen, merge_words(typed, known)))


def _split(words: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(words or ""))
    except ValueError as error:
        raise _usage_error(f"--raises {words!r}: {error}", "--raises 'ARG ARG'") from error


T = TypeVar("T")


@register_command("setup", group=GROUP)
async def setup(
    call: CommandCall,
    name: Annotated[str | None, Argument("ADAPTER", "the adapter to install")] = None,
    *,
    every: Annotated[
        bool, Option("--list", help="list every adapter: whether and how it is installed")
    ] = False,
    check: Annotated[bool, Option("--check", help="check only, change nothing")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="do it")] = False,
) -> answers.Answer:
    """Install a debug adapter, and prove that it starts.

    Without --yes it only shows what it would do. Without a name it lists the adapters. It never
    prompts. If a step needs root and you are not root, it prints the commands to run.
    """
    if name is not None and every:
        raise _usage_error("--list is without an ADAPTER", "debugger setup --list")
    if name is None and (check or yes):
        raise _usage_error("which adapter?", "debugger setup --list")
    if check and yes:
        raise _usage_error(
            "--check changes nothing, and --yes does", f"debugger setup {name} --check"
        )
    work = _setup_work(call)
    if name is None:
        return await work.list_adapters()
    if check:
        return await work.check_install(name)
    if not yes:
        return await work.plan_install(name)
    return await _unless_interrupted(call, work.install_adapter, name)


def _setup_work(call: CommandCall) -> AdapterSetup:
    from debugger import config
    from debugger.install.caller_machine import CallerMachine
    from debugger.install.installer import AdapterSetup

    async def say(line: str) -> None:
        if not call.is_json:  # its answer is one object
            await call.stream(f"{line}\n")

    return AdapterSetup(
        machine=CallerMachine(call.env, say),
        config_file=config.config_path(call.env),
        reload=lambda: config.load_config(call.env).adapters,
        scratch_root=call.scratch_root,
    )


async def _unless_interrupted(
    call: CommandCall, work: Callable[[str], Awaitable[T]], name: str
) -> T:
    import asyncio

    job = asyncio.ensure_future(work(name))
    interrupted = asyncio.ensure_future(call.interrupted.wait())
    try:
        await asyncio.wait({job, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        if job.done():
            return await job
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            f"the setup of {name} was interrupted",
            hint=f"debugger setup {name} --yes begins again",
        )
    finally:
        interrupted.cancel()
        job.cancel()
        await asyncio.wait({job})


def _usage_error(message: str, hint: str) -> DebuggerError:
    return DebuggerError(ErrorCode.USAGE, message, hint=hint)
