"""The fake adapter's profile, as a real adapter has one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debugger.backends import abilities
from debugger.backends.adapters.lldb import lldb_dap
from debugger.backends.dap.adapter_profile import (
    AdapterLocation,
    AdapterProfile,
    AdapterSearch,
    StreamFiles,
)

if TYPE_CHECKING:
    from debugger.backends.base import AttachTarget, LaunchTarget

ADAPTER = Path(__file__).with_name("dap_adapter.py")


def _find(search: AdapterSearch) -> AdapterLocation:
    return found(*search.args)


def found(*arguments: str) -> AdapterLocation:
    """Start the fake adapter with these arguments."""
    return AdapterLocation((sys.executable, str(ADAPTER), *arguments))


def quirks(*names: str) -> tuple[str, ...]:
    """Write quirks as arguments."""
    return tuple(word for name in names for word in ("--quirk", name))


def _launch(launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
    del files
    return {
        "program": launch.program,
        "args": list(launch.args),
        "stopOnEntry": launch.stop_on_entry,
    }


def _attach(target: AttachTarget) -> dict[str, Any]:
    return {"program": target.program, "stopOnEntry": target.pause}


PROFILE = AdapterProfile(
    name="fake",
    languages=("imaginary",),
    install="it is here",
    find=_find,
    launch=_launch,
    attach=_attach,
    exception_filters=("raised",),
    has=frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    ),
    stopped=lldb_dap.PROFILE.stopped,  # it may tell a SIGSTOP as lldb-dap does
    failed_conditions_stop=True,
    hit_condition=lambda count: f">={count}",
)
