"""Detects that control leaves a frame without a return: by an exception or a longjmp.

An unwinder calls `_Unwind_SetIP` for each frame that it will resume in, with the address there: in
C++, in Rust, and where a thread is cancelled. A longjmp gets its target by its first argument, in
glibc's form for x86-64, which is mixed with a guard that the kernel has handed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from debugger.backends.inprocess.stepping.function_body import code_at
from debugger.backends.inprocess.stepping.instruction_decoding import (
    ControlFlow,
    decode_instruction,
)
from debugger.symbols.dwarf.location_evaluation import MASK, Reader, UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary

_UNWINDER: Final = ("_Unwind_SetIP",)
_JUMPS: Final = ("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk")
# glibc's __jmpbuf for x86-64 is rbx, rbp, r12 to r15, rsp, pc: words 6 and 7 are mangled, by
# xor with the guard and a rotation to the left (PTR_MANGLE in
# sysdeps/unix/sysv/linux/x86_64).
_STACK, _TARGET, _ROTATED = 48, 56, 17  # in a jmp_buf, in bytes; and by how many bits
# _Unwind_GetCFA is one load and a return, so its displacement is the place of the frame's
# address in libgcc's _Unwind_Context, which no header declares.
_FIELD: Final = re.compile(r"mov rax, qword ptr \[rdi \+ (0x[0-9a-f]+)\]")
# A frame may push arguments while it calls, so its stack pointer is not its lowest. What lies
# further down than this was called by it.
_BELOW: Final = 4096
_RANDOM: Final = 25  # AT_RANDOM of the auxiliary vector


@dataclass(frozen=True, slots=True)
class NonlocalExit:
    """Describes a function that moves control out of a frame.

    It is an unwinder's, with the place of the frame in its context, or a longjmp, with the guard.
    """

    address: int
    field: int | None = None
    guard: int | None = None

    def exit_condition(self, floor: int) -> str | None:
        """Write a condition for the agent: the exit leads to a frame, or to one further out."""
        # In the agent, because exceptions within a callee may come by the thousand, and each
        # stop of a thread costs milliseconds. The two strings do what `find_target` and
        # `_demangled_pointer` do.
        if self.guard is not None:
            return (
                "((guard, least) => (c) => { const mixed = c.rdi.add(48).readU64();"
                " return mixed.shr(17).or(mixed.shl(47)).xor(guard).compare(least) >= 0; })"
                f"(uint64('{self.guard:#x}'), uint64('{floor - _BELOW:#x}'))"
            )
        if self.field is not None:
            return (
                f"((least) => (c) => c.rdi.add({self.field}).readPointer().compare(least) >= 0)"
                f"(ptr('{floor - _BELOW:#x}'))"
            )
        return None

    def find_target(self, registers: Mapping[str, int], read: Reader) -> int | None:
        """Return where the exit leads, at the entry of its function."""
        # _Unwind_SetIP(context, address): the second argument is in rsi.
        if self.guard is None:
            return registers["rsi"]
        try:
            mixed = int.from_bytes(read(registers["rdi"] + _TARGET, 8), "little")
        except UnreadableMemory:
            return None
        return _demangled_pointer(mixed, self.guard)


def _demangled_pointer(mixed: int, guard: int) -> int:
    return ((mixed >> _ROTATED | mixed << (64 - _ROTATED)) & MASK) ^ guard


def find_exits(modules: LoadedBinaries, read: Reader, guard: int | None) -> list[NonlocalExit]:
    """Find the functions of the program by which control may leave a frame."""
    found: dict[int, NonlocalExit] = {}
    for module, is_program in _modules_to_search(modules):
        name = module.image.binary.path.name
        # The unwinder of a Rust or a static libgcc program is linked into the program itself.
        if is_program or name.startswith(("libgcc_s", "libunwind")):
            field = _context_field(module, read)
            for address in _functions_named(module, _UNWINDER):
                found[address] = NonlocalExit(address, field=field)
        if guard is not None and name.startswith(("libc.so", "libc-")):
            for address in _functions_named(module, _JUMPS):
                found[address] = NonlocalExit(address, guard=guard)
    return list(found.values())


def _modules_to_search(modules: LoadedBinaries) -> Iterator[tuple[LoadedBinary, bool]]:
    for module in modules:
        yield module, module.image.binary.interpreter is not None


def _functions_named(module: LoadedBinary, names: tuple[str, ...]) -> Iterator[int]:
    for name in names:
        for one in module.image.symbols.find_by_name(name):
            if one.is_function and one.name.partition("@")[0] == name:
                yield one.address + module.load_bias


def _context_field(module: LoadedBinary, read: Reader) -> int | None:
    """Return where an unwinder's context has its frame: the field that `_Unwind_GetCFA` returns."""
    for address in _functions_named(module, ("_Unwind_GetCFA",)):
        at = address
        # An endbr64 may come first.
        for _ in range(3):
            one = decode_instruction(code_at(module, at, read), at)
            if one is None or one.flow is not ControlFlow.ON:
                break
            match = _FIELD.fullmatch(one.text)
            if match is not None:
                return int(match[1], 16)
            at = one.next_address
    return None


def random_at(pid: int) -> int | None:
    """Return the address of the kernel's random bytes, whose second half is glibc's guard."""
    # The first eight bytes are the stack protector's canary (dl-osinfo.h of glibc).
    try:
        content = Path(f"/proc/{pid}/auxv").read_bytes()
    except OSError:
        return None
    # Pairs of a key and a value, eight bytes each, up to AT_NULL.
    for at in range(0, len(content) - 15, 16):
        if int.from_bytes(content[at : at + 8], "little") == _RANDOM:
            return int.from_bytes(content[at + 8 : at + 16], "little")
    return None


def guard_at(random: int | None, read: Reader) -> int | None:
    """Read the pointer guard from the kernel's random bytes."""
    try:
        return int.from_bytes(read(random + 8, 8), "little") if random is not None else None
    except UnreadableMemory:
        return None
