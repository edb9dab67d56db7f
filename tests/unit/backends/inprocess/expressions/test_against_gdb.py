"""Expressions mean the same in a real C program as in gdb."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import debuggees
from debugger.backends.inprocess.expressions.expression_evaluation import evaluate_expression
from debugger.errors import DebuggerError
from stopped_program import StoppedProgram, stop_with_gdb

pytestmark = pytest.mark.adapter("gdb-cli")

EXPRESSIONS = [
    "n", "ratio", "total", "u", "little", "half", "yes", "letter", "counter", "calls", "i",
    "n + total", "u * 2", "u + total", "little * little", "-u", "~n", "!n", "n / 4", "n % 4",
    "total / 4", "total % 4", "n << 3", "u >> 5", "total >> 1", "n & 3", "n | 8", "n ^ 5",
    "n == 6", "n != 6", "u > total", "n < total", "total < 0", "n > 2 && total > 0",
    "n == 0 || yes",
    "ratio * n", "ratio > 2", "half + 1", "half / 3", "n ? total : u", "letter == 'q'",
    "letter + 1", "(char)(letter + 1)", "(unsigned char)total", "(short)u", "(int)ratio",
    "(double)n / 4", "(float)ratio", "(unsigned long)little", "(long)p == (long)raw",
    "p->value", "p->at.x", "p->at.y", "p->next->value", "p->next->next", "p->next->next == 0",
    "p->low", "p->middle", "p->high", "p->whole", "p->real", "p->colour", "p->next->colour",
    "p->colour == GREEN", "p->colour + 1", "p->grid[1][2]", "p->grid[0][1]", "*p->name",
    "p->name[2]", "p->next->name[0]", "here.x", "here.y", "(&here)->y", "&here.y == &here.x + 1",
    "numbers[3]", "*numbers", "*(numbers + 1)", "q[1]", "q[-1]", "*q", "q - numbers", "q > numbers",
    "&numbers[4] - q", "*(int *)raw", "((node_t *)raw)->value", "((struct node *)raw)->at.y",
    "null == 0", "raw", "p", "&counter", "q + 1", "text[3]", "bytes[2]", "bytes[2] + bytes[3]",
    "(signed char)bytes[3]", "sizeof(int)", "sizeof(struct node)", "sizeof(numbers)", "sizeof n",
    "sizeof(*p)", "$rip", "$rax == 0 || 1", "word[0]", "*&n", "BLUE", "(enum colour)6",
    "0xffffffff", "2147483648", "1 - 2u", "10 / 3.0", "'a' + 0", "7 > 3",
]  # fmt: skip


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def at_the_line(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> StoppedProgram:
    gdb, gcc = shutil.which("gdb"), shutil.which("gcc")
    if gdb is None or gcc is None:
        pytest.skip("gdb and gcc are needed")
    program = tmp_path_factory.mktemp("program") / "expressions"
    source = debuggees.PROGRAMS / "expressions.c"
    flags = ["-g", request.param, "-no-pie", "-o", str(program), str(source)]
    subprocess.run([gcc, *flags], check=True, timeout=60)
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "@here" in text)
    return stop_with_gdb(program, f"expressions.c:{line}", EXPRESSIONS, gdb=gdb)


def number_of(answer: str) -> float | None:
    """Read gdb's number: `5`, `113 'q'`, `(int *) 0x4c <x>`, `GREEN`, `true`."""
    named = {"GREEN": 5, "RED": 0, "BLUE": 6, "true": 1, "false": 0}
    if answer in named:
        return named[answer]
    match = re.match(r"(?:\(.*\) )?(0x[0-9a-f]+|-?[\d.]+(?:e[+-]?\d+)?)", answer)
    if match is None:
        return None
    return int(match[1], 16) if match[1].startswith("0x") else float(match[1])


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_an_expression_is_worth_what_gdb_says(at_the_line: StoppedProgram, number: int) -> None:
    asked, answer = EXPRESSIONS[number], at_the_line.answers[number]
    theirs = number_of(answer)
    try:
        ours = evaluate_expression(asked, at_the_line.scope(), at_the_line.world).value
    except DebuggerError as error:
        # What the compiler did not keep, nobody can say.
        assert theirs is None, (answer, error.message)
        return
    assert isinstance(ours, int | float), ours
    assert theirs is not None, (answer, ours)
    assert ours == pytest.approx(theirs, rel=1e-6)
