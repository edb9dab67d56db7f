"""The command that installs debug adapters."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from debugger import config
from debugger.errors import DebuggerError, ErrorCode
from debugger.install.caller_machine import CallerMachine
from debugger.install.installer import AdapterSetup
from debugger.install.recipes import RECIPES
from debugger.model import answers
from debugger.model.command_registry import Argument, Option, register_command
from debugger.questions.runner.command_call import CommandCall

GROUP = "The tool"
T = TypeVar("T")


@register_command("setup", group=GROUP)
async def setup(
    call: CommandCall,
    name: Annotated[str | None, Argument("ADAPTER", "the adapter to install")] = None,
    *,
    every: Annotated[
        bool, Option("--list", help="every adapter: whether it is here, and how")
    ] = False,
    check: Annotated[bool, Option("--check", help="would it work? nothing is changed")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="do it")] = False,
) -> answers.Answer:
    """Install a debug adapter, and prove that it starts.

    Without --yes it says what would be done. Nothing is asked, and without a name the adapters are
    listed. What needs root and is not run by root is told as the commands to give.
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
    async def say(line: str) -> None:
        if not call.is_json:  # its answer is one object
            await call.stream(f"{line}\n")

    sections: dict[str, config.AdapterSettings] = {}
    for recipe in RECIPES.values():
        if recipe.section is not None:
            sections |= config.parse_adapters(recipe.section.read_text(encoding="utf-8"))
    return AdapterSetup(
        machine=CallerMachine(call.env, say),
        config_file=config.config_path(call.env),
        reload=lambda: config.load_config(call.env).adapters,
        sections=sections,
        scratch_root=call.scratch_root,
    )


async def _unless_interrupted(
    call: CommandCall, work: Callable[[str], Awaitable[T]], name: str
) -> T:
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
