"""Defines the commands that list and remove saved runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from debugger.model.command_registry import Argument, register_command
from debugger.questions.runner.question_arguments import GROUP

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall


@register_command("runs list", group=GROUP, aliases=("runs",), reads_only=True)
async def runs_list(call: CommandCall) -> answers.Answer:
    """List the runs that path --save and diff --save kept, and which sources changed since.

    Use a saved run in place of a command: --vs run:NAME. 20 are kept; the oldest are removed first.
    """
    from debugger.questions.recordings.saved_runs import saved_runs

    return saved_runs(call).list_runs()


@register_command("runs remove", group=GROUP)
async def runs_remove(
    call: CommandCall, name: Annotated[str, Argument("NAME", "a saved run")]
) -> answers.Answer:
    """Remove a saved run."""
    from debugger.model import answers
    from debugger.questions.recordings.saved_runs import saved_runs

    bare = name.removeprefix("run:")
    saved_runs(call).remove_run(bare)
    return answers.Text(f"removed: run:{bare}")
