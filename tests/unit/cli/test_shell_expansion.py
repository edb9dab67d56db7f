"""What the shell took out of a command line is put back in the hint."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from debugger.cli.shell_expansion import refuse_shell_words, restore_redirection, restore_star
from debugger.errors import DebuggerError, ErrorCode

# What came, the file that the shell made, and the line that was typed.
REDIRECTIONS = [
    ("print a-", "balance", "print 'a->balance'"),
    ("p a->next-", "name", "p 'a->next->name'"),
    ("set a-", "balance=5", "set 'a->balance=5'"),
    ("break f.c:3 if order.price", "100", "break f.c:3 if 'order.price > 100'"),
    ("probe --at f --when amount amount -- ./bank", "10",
     "probe --at f --when 'amount > 10' amount -- ./bank"),
    ("probe --at f --when amount x -- ./bank", "=10",
     "probe --at f --when 'amount >=10' x -- ./bank"),
    ("print order.price", "100", "print 'order.price > 100'"),
    ("print order.price + 1", "2", "print 'order.price + 1 > 2'"),
]  # fmt: skip
# Answers that a file is to take.
PLAIN = [
    ("print x", "out.txt"), ("locals", "1"), ("print -x", "out"), ("probe --at f x -- ./a", "7"),
    ("break f.c:3", "7"), ("crash -- ./app -", "log"), ("backtrace --limit 3", "stack.txt"),
    ("input -", "out"),
]  # fmt: skip


@pytest.mark.parametrize(("came", "name", "typed"), REDIRECTIONS)
def test_a_comparison_that_the_shell_took_is_put_back(came: str, name: str, typed: str) -> None:
    assert restore_redirection(shlex.split(came), name) == shlex.split(typed)


@pytest.mark.parametrize(("came", "name"), PLAIN)
def test_a_redirection_of_an_answer_is_none(came: str, name: str) -> None:
    assert restore_redirection(shlex.split(came), name) is None


def test_a_star_that_became_the_names_of_all_files_is_put_back() -> None:
    files = ["b.py", "a.py", "c"]
    assert restore_star(["eval", "x", "a.py", "b.py", "c", "2"], files) == ["eval", "x * 2"]
    assert restore_star(["eval", "x", "a.py", "b.py", "2"], files) is None
    assert restore_star(["eval", "a.py", "b.py", "c"], files) is None
    assert restore_star(["eval", "x", "2"], []) is None


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Yield a file that the shell has just made for an answer in this directory."""
    monkeypatch.chdir(tmp_path)
    opened = os.open("balance", os.O_WRONLY | os.O_CREAT)
    yield opened
    os.close(opened)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="a path of a descriptor")
def test_an_answer_that_nobody_would_read_is_refused(output: int) -> None:
    with pytest.raises(DebuggerError) as caught:
        refuse_shell_words(["print", "a-"], output)
    assert caught.value.code is ErrorCode.USAGE
    assert caught.value.hint == "debugger print 'a->balance'"
    refuse_shell_words(["print", "a"], output)
    Path("next-").touch()  # of a->next->balance, or a->next->next->balance
    with pytest.raises(DebuggerError) as caught:
        refuse_shell_words(["print", "a-"], output)
    assert caught.value.hint == "debugger print EXPR"
    os.write(output, b"an earlier answer")  # >> appends
    refuse_shell_words(["print", "a-"], output)


def test_a_removed_directory_has_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    refuse_shell_words(["eval", "x", "a.py", "b.py"], 1)
    monkeypatch.chdir(tmp_path)
