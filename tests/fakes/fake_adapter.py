"""The class of the fake adapter, as a real adapter has one."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debugger.backends import abilities
from debugger.backends.adapters.lldb.lldb_dap_adapter import LldbDapAdapter
from debugger.backends.dap.debug_adapter import (
    AdapterLocation,
    AdapterSearch,
    DebugAdapter,
    StreamFiles,
)

if TYPE_CHECKING:
    from debugger.backends.base import AttachTarget, LaunchTarget
    from debugger.backends.dap.messages import StoppedBody
    from debugger.model.program import Stopped

ADAPTER = Path(__file__).with_name("dap_adapter.py")


def fake_location(*arguments: str) -> AdapterLocation:
    """Start the fake adapter with these arguments."""
    return AdapterLocation((sys.executable, str(ADAPTER), *arguments))


def quirk_words(*names: str) -> tuple[str, ...]:
    """Write quirks as arguments."""
    return tuple(word for name in names for word in ("--quirk", name))


class FakeAdapter(DebugAdapter):
    """The adapter of `dap_adapter.py`."""

    name = "fake"
    languages = ("imaginary",)
    install_command = "it is here"
    exception_filters = ("raised",)
    request_abilities = frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    )
    failed_conditions_stop = True
    claims_breakpoint_options = True

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the fake adapter."""
        return fake_location(*search.args)

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        del files
        return {
            "program": launch.program,
            "args": list(launch.args),
            "stopOnEntry": launch.stop_on_entry,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        return {"program": target.program, "stopOnEntry": target.pause}

    def parse_stopped(self, body: StoppedBody) -> Stopped:
        """Convert a `stopped` event, which may report a SIGSTOP as lldb-dap does."""
        return LldbDapAdapter().parse_stopped(body)

    def format_hit_count(self, count: int) -> str:
        """Format the hit from which on a breakpoint stops."""
        return f">={count}"


def change_adapter(adapter: DebugAdapter, **changes: Any) -> DebugAdapter:
    """Return a copy of an adapter with other facts, or other functions for its methods."""
    changed = copy.copy(adapter)
    for name, value in changes.items():
        assert hasattr(adapter, name), name
        setattr(changed, name, value)
    return changed


FAKE_ADAPTER = FakeAdapter()
