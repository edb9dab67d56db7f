"""The command that installs debug adapters."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from debugger import config
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.errors import Code, DebuggerError
from debugger.setup.installing import Setup
from debugger.setup.machine import Machine
from debugger.setup.recipes import RECIPES

GROUP = "The tool"
T = TypeVar("T")


@command("setup", group=GROUP)
async def setup(
    call: Call,
    name: Annotated[str | None, Arg("ADAPTER", "the adapter to install")] = None,
    *,
    every: Annotated[
        bool, Opt("--list", help="every adapter: whether it is here, and how")
    ] = False,
    check: Annotated[bool, Opt("--check", help="would it work? nothing is changed")] = False,
    yes: Annotated[bool, Opt("--yes", "-y", help="do it")] = False,
) -> answers.Answer:
    """Install a debug adapter, and prove that it starts.

    Without --yes it says what would be done. Nothing is asked, and without a name the adapters are
    listed. What needs root and is not run by root is told as the commands to give.
    """
    if name is not None and every:
        raise _usage("--list is without an ADAPTER", "debugger setup --list")
    if name is None and (check or yes):
        raise _usage("which adapter?", "debugger setup --list")
    if check and yes:
        raise _usage("--check changes nothing, and --yes does", f"debugger setup {name} --check")
    work = _work(call)
    if name is None:
        return await work.listed()
    if check:
        return await work.checked(name)
    if not yes:
        return await work.planned(name)
    return await _unless_interrupted(call, work.installed, name)


def _work(call: Call) -> Setup:
    async def say(line: str) -> None:
        if not call.is_json:  # its answer is one object
            await call.stream(f"{line}\n")

    sections: dict[str, config.Adapter] = {}
    for recipe in RECIPES.values():
        if recipe.section is not None:
            sections |= config.adapters(recipe.section.read_text(encoding="utf-8"))
    return Setup(
        machine=Machine(call.env, say),
        config_file=config.path(call.env),
        reload=lambda: config.load(call.env).adapters,
        sections=sections,
        scratch_root=call.scratch_root,
    )


async def _unless_interrupted(call: Call, work: Callable[[str], Awaitable[T]], name: str) -> T:
    job = asyncio.ensure_future(work(name))
    interrupted = asyncio.ensure_future(call.interrupted.wait())
    try:
        await asyncio.wait({job, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        if job.done():
            return await job
        raise DebuggerError(
            Code.ADAPTER_FAILED,
            f"the setup of {name} was interrupted",
            hint=f"debugger setup {name} --yes begins again",
        )
    finally:
        interrupted.cancel()
        job.cancel()
        await asyncio.wait({job})


def _usage(message: str, hint: str) -> DebuggerError:
    return DebuggerError(Code.USAGE, message, hint=hint)
