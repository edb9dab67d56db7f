"""The imaginary program: what each line does, and where it stops."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

SOURCE = """\
#include <stdio.h>
int work(int n) {
    int doubled = 2 * n;
    printf("step %d\\n", n);
    return doubled;
}

/* Adds up the work of five turns, and ends with status 3. */
int main(void) { int items[200] = {0};
    int i = 0, total = 0;
    while (i < 5) {
        total += work(i);
        items[i++] = total; }
    return 3;
}
"""
CODE_LINES = (3, 4, 5, 10, 11, 12, 13, 14)
FUNCTIONS = {"main": 10, "work": 3}
ITEM_COUNT = 200
EXIT_CODE = 3
RETURN_LINE = 5
FAULT_AT = 2
SIGSEGV = 11

_OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
}
_BINARY = re.compile(r"(.+?)\s*(==|!=|>=|<=|[-><+*%])\s*(.+)")
_ITEM = re.compile(r"items\[(\w+)\]")
_HIT_CONDITION = re.compile(r"\s*(==|>=|>|<=|<|%)?\s*(\d+)\s*")


class EvaluationError(Exception):
    """An expression has no value here."""


@dataclass(frozen=True)
class Breakpoint:
    """A place to stop at, or to print at when `log_message` is set."""

    id: int
    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    reason: str = "breakpoint"


@dataclass(frozen=True)
class Output:
    """The program, or the adapter, printed."""

    text: str
    category: str = "stdout"


@dataclass(frozen=True)
class Stopped:
    """The program stands still."""

    reason: str
    text: str = ""
    hit: tuple[int, ...] = ()


@dataclass(frozen=True)
class Exited:
    """The program is gone."""

    code: int
    signal: int = 0


Happening = Output | Stopped | Exited


@dataclass(frozen=True)
class Behaviour:
    """What the program's arguments ask of it."""

    iterations: int = 5
    is_endless: bool = False
    crashes: bool = False
    throws: bool = False
    is_noisy: bool = False
    stops_on_condition_error: bool = False


@dataclass
class Program:
    """The program as a machine: `run` goes on until it stops, ends, or has nothing to tell.

    `main` is suspended at line 12 while `work` runs, so two line numbers are the whole stack.
    """

    behaviour: Behaviour
    breakpoints: list[Breakpoint] = field(default_factory=list)
    stops_on_throw: bool = False
    main_line: int = 10
    work_line: int = 0
    is_back_from_call: bool = False
    is_quiet: bool = False
    has_faulted: bool = False
    names: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("i", "total"), 0))
    call: dict[str, int] = field(default_factory=dict)
    items: list[int] = field(default_factory=lambda: [0] * ITEM_COUNT)
    hits: dict[int, int] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of frames."""
        return 2 if self.work_line else 1

    @property
    def line(self) -> int:
        """The line that will be executed next."""
        return self.work_line or self.main_line

    def locals(self, frame: int) -> dict[str, int]:
        """The integers that the frame can see; 0 is the innermost frame."""
        return self.call if self.work_line and frame == 0 else self.names

    def start(self) -> Iterator[Happening]:
        """Run from the first line, which may itself have a breakpoint."""
        stopped = yield from self._arrive()
        if not stopped:
            yield from self.run("continue")

    def run(self, how: str) -> Iterator[Happening]:
        """Go on as `continue`, `next`, `stepIn` or `stepOut` do, until something ends it."""
        depth, line = self.depth, self.line
        while True:
            fault = self._fault()
            if fault:
                yield fault
                return
            if self.main_line == CODE_LINES[-1]:
                yield Exited(EXIT_CODE)
                return
            has_lapped = self.main_line == FUNCTIONS["main"] + 1 and self._laps()
            yield from self._execute()
            if (yield from self._arrive()):
                return
            if self._has_stepped(how, depth, line):
                yield Stopped("step")
                return
            if has_lapped and how in ("continue", "stepOut"):
                return

    def evaluate(self, text: str, frame: int = 0) -> int:
        """Compute a name, an integer, an item, or two of them around an operator."""
        text = text.strip()
        if binary := _BINARY.fullmatch(text):
            left, sign, right = binary.groups()
            compute = _OPERATORS[sign]
            return int(compute(self.evaluate(left, frame), self.evaluate(right, frame)))
        if item := _ITEM.fullmatch(text):
            index = self.evaluate(item[1], frame)
            if "i" in self.locals(frame) and 0 <= index < ITEM_COUNT:
                return self.items[index]
        if text.isdecimal():
            return int(text)
        if text in self.locals(frame):
            return self.locals(frame)[text]
        message = f"use of undeclared identifier '{text}'"
        raise EvaluationError(message)

    def _laps(self) -> bool:
        """Begin the loop anew if it has no end, and tell whether it did."""
        if not self.behaviour.is_endless or self.names["i"] < self.behaviour.iterations:
            return False
        self.names["i"] = 0
        self.is_quiet = True
        return True

    def _fault(self) -> Happening | None:
        if self.work_line != RETURN_LINE or self.call["n"] != FAULT_AT:
            return None
        if self.behaviour.crashes and self.has_faulted:
            return Exited(128 + SIGSEGV, SIGSEGV)
        if self.behaviour.crashes:
            self.has_faulted = True
            return Stopped("exception", "signal SIGSEGV")
        if self.behaviour.throws and self.stops_on_throw and not self.has_faulted:
            self.has_faulted = True
            return Stopped("exception", "ValueError: n is 2")
        return None

    def _execute(self) -> Iterator[Happening]:
        match self.line:
            case 3:
                self.call["doubled"] = 2 * self.call["n"]
                self.work_line = 4
            case 4:
                self.work_line = 5
                if not self.is_quiet:
                    yield Output(f"step {self.call['n']}\n")
            case 5:
                self.names["total"] += self.call["doubled"]
                self.work_line, self.is_back_from_call = 0, True
            case 10:
                self.names |= {"i": 0, "total": 0}
                self.main_line = 11
                if self.behaviour.is_noisy:
                    yield Output("warning: noisy\n", "stderr")
            case 11:
                self.main_line = 12 if self.names["i"] < self.behaviour.iterations else 14
            case 12 if self.is_back_from_call:
                self.main_line, self.is_back_from_call = 13, False
            case 12:
                self.work_line, self.call = 3, {"n": self.names["i"], "doubled": 0}
            case _:
                self.items[self.names["i"] % ITEM_COUNT] = self.names["total"]
                self.names["i"] += 1
                self.main_line = 11

    def _has_stepped(self, how: str, depth: int, line: int) -> bool:
        if how == "next":
            return self.depth < depth or (self.depth == depth and self.line != line)
        return how == "stepIn" or (how == "stepOut" and self.depth < depth)

    def _arrive(self) -> Generator[Happening, None, bool]:
        """Try the breakpoints of this line; the value says whether one stopped."""
        if self.is_back_from_call and not self.work_line:
            return False
        hit = []
        for breakpoint_ in [b for b in self.breakpoints if b.line == self.line]:
            if not (yield from self._holds(breakpoint_)) or not self._counts(breakpoint_):
                continue
            if breakpoint_.log_message is not None:
                yield Output(self._fill(breakpoint_.log_message) + "\n", "console")
            else:
                hit.append(breakpoint_)
        if hit:
            yield Stopped(hit[0].reason, hit=tuple(b.id for b in hit))
        return bool(hit)

    def _holds(self, breakpoint_: Breakpoint) -> Generator[Happening, None, bool]:
        if not breakpoint_.condition:
            return True
        try:
            return bool(self.evaluate(breakpoint_.condition))
        except EvaluationError as error:
            text = f"error: condition of breakpoint {breakpoint_.id} failed: {error}\n"
            yield Output(text, "console")
            return self.behaviour.stops_on_condition_error

    def _counts(self, breakpoint_: Breakpoint) -> bool:
        count = self.hits[breakpoint_.id] = self.hits.get(breakpoint_.id, 0) + 1
        wanted = _HIT_CONDITION.fullmatch(breakpoint_.hit_condition or "")
        if not wanted:
            return True
        if wanted[1] == "%":
            return count % int(wanted[2]) == 0
        return bool(_OPERATORS[wanted[1] or "=="](count, int(wanted[2])))

    def _fill(self, message: str) -> str:
        def value(found: re.Match[str]) -> str:
            try:
                return str(self.evaluate(found[1]))
            except EvaluationError as error:
                return f"<{error}>"

        return re.sub(r"\{([^{}]*)\}", value, message)
