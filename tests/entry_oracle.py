"""Compares what we say of parameters and returned values with gdb, and with the program's own."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debugger.backends.inprocess.expressions.declared_names import DeclaredNames
from debugger.backends.inprocess.expressions.expression_evaluation import evaluate_expression
from debugger.backends.inprocess.expressions.node_evaluation import NodeWorld
from debugger.backends.inprocess.tracing.call_format import declared_types, words_of
from debugger.backends.inprocess.tracing.trace_targets import TraceTarget
from debugger.errors import DebuggerError
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.entry_locations import NUMBERS
from debugger.symbols.dwarf.function_index import DebugFunction
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.return_values import value_of
from debugger.symbols.dwarf.scope_variables import VariableRole
from debugger.symbols.dwarf.typed_values import TypedValue, ValueMemory
from debugger.symbols.dwarf.unwinding import (
    LoadedBinaries,
    LoadedBinary,
    frame_variables,
    unwind_stack,
    variable_value,
)
from dwarf_stops import plain_value
from entry_programs import POINTING, GeneratedProgram

_BY_NUMBER = {**NUMBERS, "rip": 16}
_SCALARS = {
    TypeKind.INTEGER, TypeKind.FLOAT, TypeKind.BOOL, TypeKind.CHARACTER, TypeKind.ENUM,
    TypeKind.POINTER,
}  # fmt: skip
_ADDRESS_MAX = 1 << 47
_CONSTANTS = {"int": 42, "long": 42, "i32": 42, "double": 7.5, "f64": 7.5}
_RECORD_WORDS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")


@dataclass
class Comparison:
    """How many values were compared, how many were not known, and which were wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)

    def compare(self, what: str, where: str, ours: Any, theirs: Any) -> None:
        if theirs in ("gone", "other", "unreadable", None) or ours == "other":
            return
        if ours == "gone":
            self.counts[f"{what}: not known"] += 1
            return
        self.counts[what] += 1
        if not _is_same(ours, theirs):
            self.counts[f"{what}: wrong"] += 1
            self.wrong.append(f"{what} {where}: {ours!r}, not {theirs!r}")


def _is_same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        # gdb names what has no name otherwise, and adds what is virtual.
        return all(_is_same(one, theirs[name]) for name, one in ours.items() if name in theirs)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_is_same, ours, theirs))
    if "gone" in (ours, theirs) or "other" in (ours, theirs) or "unreadable" in (ours, theirs):
        return True
    if isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours):
        return math.isnan(theirs)
    return bool(ours == theirs)


def compare_with_gdb(program: GeneratedProgram, folder: Path, language: str) -> Comparison:
    """Run a program in gdb, and compare at each entry and behind each prologue."""
    session = _Session(program, folder, language)
    session.run()
    return session.result


class _Session:
    def __init__(self, program: GeneratedProgram, folder: Path, language: str) -> None:
        self.program = program
        self.folder = folder
        self.language = language
        self.image = BinaryImage(program.path)
        self.result = Comparison()
        self.signatures = {one.name: one for one in program.functions}
        self.functions: dict[int, DebugFunction] = {}
        self.entries: dict[int, DebugFunction] = {}
        for one in self._found():
            self.entries[one.address] = one
            self.functions[one.address] = one
            self.functions[one.body] = one
        # Without PIE the addresses are the file's own.
        self.module = LoadedBinary(self.image, -self.image.binary.load_bias(0), _ADDRESS_MAX)
        self.words = {
            one.address: words_of(TraceTarget(one.name, one.address, self.module, one))
            for one in self.entries.values()
        }
        self.calls: Counter[int] = Counter()
        self.truth: dict[str, Any] = {}
        # By the caller's address and stack, where it will be left.
        self.returning: dict[tuple[int, int], DebugFunction] = {}
        self.memory = ValueMemory(lambda _address, _size: b"")

    def _found(self) -> Iterator[DebugFunction]:
        for name in self.signatures:
            for one in self.image.functions.find_by_name(name):
                if not one.is_inlined:
                    yield one

    def run(self) -> None:
        questions, answers = self.folder / "questions", self.folder / "answers"
        for one in (questions, answers):
            with suppress(FileExistsError):
                os.mkfifo(one)
        script = self.folder / "session.py"
        own = Path(__file__).with_name("entry_gdb.py").read_text(encoding="utf-8")
        given = [
            sorted(self.functions),
            sorted(self.entries),
            "ready",
            str(questions),
            str(answers),
        ]
        words = ", ".join(f"set({one!r})" if isinstance(one, list) else repr(one) for one in given)
        script.write_text(f"{own}\nmain({words})\n", encoding="utf-8")
        argv = [
            shutil.which("gdb") or "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
            "-iex", "set confirm off", "-x", str(script), str(self.program.path),
        ]  # fmt: skip
        with (
            (self.folder / "gdb.log").open("w") as log,
            subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as gdb,
        ):
            try:
                with questions.open() as asked, answers.open("w") as back:
                    for line in asked:
                        self._take(json.loads(line))
                        back.write("\n")
                        back.flush()
            except BrokenPipeError:
                pass
            finally:
                gdb.wait(60)
        assert self.result.counts, (self.folder / "gdb.log").read_text()

    def _take(self, stop: dict[str, Any]) -> None:
        def read(address: int, size: int) -> bytes:
            try:
                with open(f"/proc/{stop['pid']}/mem", "rb") as memory:
                    memory.seek(address)
                    return memory.read(size)
            except (OSError, OverflowError, ValueError) as error:
                raise UnreadableMemory(address) from error

        self.memory = ValueMemory(read)
        if stop["kind"] == "ready":
            return
        named = stop["registers"]
        registers = {_BY_NUMBER[name]: held for name, held in named.items()}
        left = self.returning.pop((named["rip"], named["rsp"]), None)
        if left is not None:
            self._returned(left, registers, stop.get("returned"))
        function = self.functions.get(named["rip"])
        if function is None:
            return
        frames = unwind_stack(registers, LoadedBinaries([self.module]), read, most=64)
        frame = next(one for one in frames if not one.is_inlined)
        is_entry = named["rip"] in self.entries
        if is_entry:
            self.calls[function.address] += 1
            caller = int.from_bytes(read(named["rsp"], 8), "little")
            self.returning = {(caller, named["rsp"] + 8): function}
        self._arguments(function, frame, stop, is_entry=is_entry)
        if is_entry:
            self._traced(function, named)

    def _arguments(self, function: DebugFunction, frame: Any, stop: Any, *, is_entry: bool) -> None:
        self.result.functions.add(function.name)
        where = "entry" if is_entry else "body"
        # What gdb reads before the prologue has stored it is no measure.
        has_prologue = function.body != function.address
        world = NodeWorld(stop["registers"], self._world)
        scope = DeclaredNames(self.image, stop["registers"]["rip"], entry=function.entry)
        known = [one for one in frame_variables(frame) if one.role is VariableRole.ARGUMENT]
        for number, one in enumerate(known):
            ours = plain_value(variable_value(one, frame, self.memory), self.memory)
            label = f"{function.name}({one.name}) call {self.calls[function.address]}"
            truth = self._truth(function, one.name)
            theirs = stop["arguments"].get(one.name)
            self.result.compare(f"{where}, by the program", label, ours, truth)
            if truth is not None and _is_same(ours, truth):
                self.result.counts[f"{where}, gdb itself wrong"] += not _is_same(theirs, truth)
            elif not (is_entry and has_prologue):
                self.result.compare(f"{where}, by gdb", label, ours, theirs)
            if one.type.kind not in _SCALARS or one.type.size > 8:
                continue
            for text in (one.name, f"args[{number}]"):
                try:
                    found = evaluate_expression(text, scope, world).value
                except DebuggerError as error:
                    found = "gone"
                    assert "not known" in error.message or "optimized" in error.message, error
                self.result.compare(f"{where}, condition", f"{label} {text}", found, ours)

    def _world(self, address: int, size: int) -> bytes:
        try:
            return self.memory.read(address, size)
        except UnreadableMemory as error:
            raise OSError(address) from error

    def _truth(self, function: DebugFunction, name: str) -> Any:
        """Read the global that a call gives to a parameter."""
        signature = self.signatures[function.name.rpartition("::")[2]]
        if not name.startswith("a") or not name[1:].isdigit():
            return None
        at = int(name[1:])
        kind = signature.types[at]
        if kind in POINTING or self.calls[function.address] > len(signature.calls):
            return None
        clones = sum(one.name == function.name for one in self.entries.values())
        if clones > 1:
            return None
        which = signature.calls[self.calls[function.address] - 1][at]
        if which is None:
            return _CONSTANTS[kind]
        return self._global({"r_int": "int", "r_ii": "s_ii"}.get(kind, kind), which)

    def _global(self, kind: str, which: int) -> Any:
        prefix = "V" if self.language == "rs" else "v"
        name = f"{prefix}_{kind}_{which}"
        if name not in self.truth:
            known = self.image.scopes.global_named(name)
            if known is None or not known.place:
                return None
            held = TypedValue(known.type, address=known.place[0].first)
            self.truth[name] = plain_value(held, self.memory)
        return self.truth[name]

    def _traced(self, function: DebugFunction, named: dict[str, int]) -> None:
        words = [named[name] for name in _RECORD_WORDS]
        reals = [named[f"xmm{at}"] & (1 << 64) - 1 for at in range(2)]
        record = (0, 0, 0, 0, 0, *words, *reals, b"\xff" * 40)
        text = self.words[function.address].entered(record)
        arguments, _ = declared_types(self.image, function)
        inner = text.removeprefix(function.name)[1:-1]
        parts = dict(one.partition("=")[::2] for one in inner.split(", ") if "=" in one)
        for one in arguments:
            if one.type.kind not in _SCALARS:
                continue
            truth = self._truth(function, one.name)
            if truth is not None:
                said = parse_printed(parts[one.name], one.type.kind)
                label = f"{function.name}({one.name}) {text}"
                self.result.compare("trace, by the program", label, said, truth)

    def _returned(self, function: DebugFunction, registers: dict[int, int], theirs: Any) -> None:
        signature = self.signatures[function.name.rpartition("::")[2]]
        _, kind = declared_types(self.image, function)
        if kind is None or signature.returned is None:
            return
        found = value_of(kind, registers)
        ours = plain_value(found, self.memory) if found is not None else "gone"
        label = f"{function.name} → {kind.name}"
        number = int(signature.name[1:]) % 3
        truth = None if signature.returned in POINTING else self._global(signature.returned, number)
        self.result.compare("returned, by the program", label, ours, truth)
        if self.language != "rs":
            self.result.compare("returned, by gdb", label, ours, theirs)


def parse_printed(text: str, kind: TypeKind) -> Any:
    if text == "?":
        return "gone"
    if kind is TypeKind.FLOAT:
        return float(text)
    if text in {"true", "false"}:
        return int(text == "true")
    word = text.split(" ", maxsplit=1)[0]
    return int(word, 0) if word.lstrip("-")[:1].isdigit() else "other"
