"""The runs that were saved, to be compared with others later."""

from __future__ import annotations

from typing import Annotated

from debugger.commands.asking import GROUP
from debugger.commands.call import Call
from debugger.commands.recorded import saved_runs
from debugger.core import answers
from debugger.core.command import Arg, command


@command("runs list", group=GROUP, aliases=("runs",), reads_only=True)
async def runs_list(call: Call) -> answers.Answer:
    """List the runs that path --save and diff --save kept, and which sources changed since.

    A saved run stands in the place of a command: --vs run:NAME. 20 are kept, the oldest give way.
    """
    return saved_runs(call).listed()


@command("runs remove", group=GROUP)
async def runs_remove(
    call: Call, name: Annotated[str, Arg("NAME", "a saved run")]
) -> answers.Answer:
    """Remove a saved run."""
    bare = name.removeprefix("run:")
    saved_runs(call).remove(bare)
    return answers.Text(f"removed: run:{bare}")
