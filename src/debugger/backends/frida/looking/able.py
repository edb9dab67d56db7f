"""Lists the abilities to inspect that this backend has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from debugger.backends import abilities
from debugger.backends.frida.looking.calling import Calls, ReturnValues
from debugger.backends.frida.looking.code import Disassembly, Jump
from debugger.backends.frida.looking.live import LiveValues
from debugger.backends.frida.looking.machine import Memory, Modules, Registers
from debugger.backends.frida.looking.watching import Watchpoints

ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    abilities.Calls: Calls,
    abilities.Disassembly: Disassembly,
    abilities.Jump: Jump,
    abilities.LiveValues: LiveValues,
    abilities.Memory: Memory,
    abilities.Modules: Modules,
    abilities.Registers: Registers,
    abilities.ReturnValues: ReturnValues,
    abilities.Watchpoints: Watchpoints,
}
