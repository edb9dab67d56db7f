"""Lists the abilities to inspect that this backend has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from debugger.backends import abilities
from debugger.backends.inprocess.inspection.call_abilities import (
    InProcessCalls,
    InProcessReturnValues,
)
from debugger.backends.inprocess.inspection.code_abilities import (
    InProcessDisassembly,
    InProcessJump,
)
from debugger.backends.inprocess.inspection.live_values import InProcessLiveValues
from debugger.backends.inprocess.inspection.memory_abilities import (
    InProcessMemory,
    InProcessModules,
    InProcessRegisters,
)
from debugger.backends.inprocess.inspection.watch_abilities import InProcessWatchpoints

ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    abilities.CallAbility: InProcessCalls,
    abilities.DisassemblyAbility: InProcessDisassembly,
    abilities.JumpAbility: InProcessJump,
    abilities.LiveValueAbility: InProcessLiveValues,
    abilities.MemoryAbility: InProcessMemory,
    abilities.ModuleAbility: InProcessModules,
    abilities.RegisterAbility: InProcessRegisters,
    abilities.ReturnValueAbility: InProcessReturnValues,
    abilities.WatchpointAbility: InProcessWatchpoints,
}
