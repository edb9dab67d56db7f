"""`probe` reports the values of expressions at each hit."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

# Values that a separator could be mistaken in: commas, quotes, newlines, brackets.
C = program_text("counted_lines/probe.c")
PYTHON = program_text("counted_lines/probe.py")
JAVASCRIPT = """\
const names = ['a, b', 'q"t\\n|x', '{br}'];
function worth(at, name) {
  const result = at * 3 + (name[0] === 'q' ? 1 : 0);
  if (at > 1000) {
    return -1;
  }
  return result;
}
let total = 0;
for (let at = 0; at < Number(process.argv[2]); at++) {
  total += worth(at, names[at % 3]);
}
console.log('total', total);
process.exitCode = 3;
"""
GO = program_text("counted_lines/probe.go")
Cli = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("probe")
    for name, text in (("p.c", C), ("p.py", PYTHON), ("p.js", JAVASCRIPT), ("p.go", GO)):
        (made / name).write_text(text)
    words = ["gcc", "-g", "-O0", "-w", "-o", str(made / "p"), str(made / "p.c")]
    subprocess.run(words, check=True, timeout=60)
    return made


def line(folder: Path, name: str, text: str) -> str:
    lines = (folder / name).read_text().splitlines()
    return f"{name}:{next(at for at, one in enumerate(lines, 1) if text in one)}"


def probed(cli: Cli, folder: Path, *words: str, check: int = 0) -> dict[str, Any]:
    answer = cli("probe", "--json", *words, check=check, cwd=folder, timeout=90)
    found: dict[str, Any] = answer.data["data"]
    return found


def rows(found: dict[str, Any]) -> list[tuple[int, list[str]]]:
    return [(row["hit"], row["values"]) for row in found["rows"]]


VALUES = [
    ("0", '"a, b"'),
    ("4", r'"q\"t\n|x"'),
    ("6", '"{br}"'),
    ("9", '"a, b"'),
    ("13", r'"q\"t\n|x"'),
    ("15", '"{br}"'),
]
IN_PYTHON = [
    (number, name.replace(r"\"", '"').replace('"', "'", 1)[:-1] + "'") for number, name in VALUES
]


@pytest.mark.parametrize(
    ("name", "text", "words", "means"),
    [
        pytest.param("p.c", "return result;", ["--adapter", "lldb-dap", "--", "./p"], "logpoints",
                     marks=pytest.mark.adapter("lldb-dap")),
        pytest.param("p.c", "return result;", ["--by", "stops", "--", "./p"], "stops",
                     marks=pytest.mark.adapter("lldb-dap")),
        pytest.param("p.c", "return result;", ["--adapter", "gdb", "--", "./p"], "logpoints",
                     marks=pytest.mark.adapter("gdb")),
        pytest.param("p.js", "return result;", ["--", "node", "p.js"], "logpoints",
                     marks=pytest.mark.adapter("js-debug")),
        pytest.param("p.go", "return result", ["--", "go", "run", "p.go"], "logpoints",
                     marks=pytest.mark.adapter("delve")),
        pytest.param("p.py", "return result", ["--", sys.executable, "p.py"], "recorder"),
        pytest.param("p.py", "return result", ["--by", "logpoints", "--", sys.executable, "p.py"],
                     "logpoints", marks=pytest.mark.adapter("debugpy")),
        pytest.param("p.py", "return result", ["--by", "stops", "--", sys.executable, "p.py"],
                     "stops", marks=pytest.mark.adapter("debugpy")),
    ],
)  # fmt: skip
def test_every_way_tells_the_same_values(  # noqa: PLR0917
    cli: Cli, folder: Path, name: str, text: str, words: list[str], means: str
) -> None:
    at = line(folder, name, text)
    found = probed(cli, folder, "--at", at, "result, name", *words, "6")
    expected = IN_PYTHON if name == "p.py" else VALUES
    told = [(one, remove_address(two)) for _, (one, two) in rows(found)]
    assert told == expected
    assert found["means"] == means
    assert (found["outcome"], found["exit_code"]) == ("exited", 3)
    place = found["places"][0]
    assert (place["hits"], place["taken"]) == (6, 6)
    assert place["columns"][0]["maximum"]["value"] == "15"
    assert cli("sessions", check=0).out == "no sessions\n"


def remove_address(text: str) -> str:
    """Leave out the address of a text, which stops show and logpoints do not."""
    return text.partition(" ")[2] if text.startswith("0x") else text


def test_a_table_says_what_stands_out_and_keeps_its_row(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    answer = cli("probe", "--at", at, "at, result", "--", sys.executable, "p.py", "1002",
                 cwd=folder, check=0)  # fmt: skip
    assert answer.out.startswith("probe: 1,002 hits; exited with status 3 (recorded inside Python")
    assert "p.py:10 in Box.worth\n" in answer.out
    assert "turns at hit 1,002: 3001→-1" in answer.out
    assert "… 998 rows left out: --rows N, --csv" in answer.out
    assert "output: 1 line (--output)" in answer.out
    assert "\n1,002  1001  -1\n" in answer.out
    assert len(answer.out) < 600


def test_more_rows_are_shown_on_demand_and_equal_ones_once(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    words = ("--at", at, "at, at // 500, name[0] in 'aq{'", "--", sys.executable, "p.py")
    many = cli("probe", "--rows", "30", *words, "1002", cwd=folder, check=0).out
    assert "… 972 rows left out" in many
    assert "name[0] in 'aq{': always True" in many
    same = cli("probe", "--at", at, "at // 40", *words[3:], "100", cwd=folder, check=0).out
    assert "hit  at // 40\n1-40  0\n41-80  1\n81-100  2\n" in same
    assert "left out" not in same
    assert "--rows counts from 1" in cli("probe", "--rows", "0", *words, "3", cwd=folder).err


def test_the_programs_output_is_shown_on_demand(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return total")
    words = ("probe", "--output", "--at", at, "total", "--", sys.executable, "p.py", "3")
    assert "output: 1 line\n  total 10" in cli(*words, cwd=folder, check=0).out


def test_rows_are_printed_as_csv(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    words = ("--at", at, "result, name", "--at", "run", "count")
    out = cli("probe", "--csv", *words, "--", sys.executable, "p.py", "4", cwd=folder, check=0).out
    table = list(csv.reader(io.StringIO(out)))
    assert table[0] == ["place", "hit", "at_s", "thread", "result", "name", "count"]
    assert [(row[0], row[1], *row[4:]) for row in table[1:]] == [
        ("run", "1", "", "", "4"),
        (at, "1", "0", "'a, b'", ""),
        (at, "2", "4", "'q\"t\\n|x'", ""),
        (at, "3", "6", "'{br}'", ""),
        (at, "4", "9", "'a, b'", ""),
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["p.py", "--", sys.executable, "p.py"],
        pytest.param(["p.c", "--adapter", "lldb-dap", "--", "./p"],
                     marks=pytest.mark.adapter("lldb-dap")),
        pytest.param(["p.js", "--", "node", "p.js"], marks=pytest.mark.adapter("js-debug")),
    ],
)  # fmt: skip
def test_only_the_hits_that_are_asked_for_are_taken(
    cli: Cli, folder: Path, words: list[str]
) -> None:
    name, *rest = words
    at = line(folder, name, "return result")
    found = probed(cli, folder, "--at", at, "at", "--when", "at > 4", "--from", "3", "--limit", "2",
                   *rest, "20")  # fmt: skip
    assert rows(found) == [(3, ["7"]), (4, ["8"])]
    assert (found["outcome"], found["exit_code"]) == ("limit", None)


@pytest.mark.parametrize(
    "words",
    [
        ["p.py", "--", sys.executable, "p.py"],
        pytest.param(["p.py", "--by", "stops", "--", sys.executable, "p.py"],
                     marks=pytest.mark.adapter("debugpy")),
        pytest.param(["p.c", "--adapter", "gdb", "--", "./p"], marks=pytest.mark.adapter("gdb")),
        pytest.param(["p.js", "--", "node", "p.js"], marks=pytest.mark.adapter("js-debug")),
    ],
)  # fmt: skip
def test_a_run_that_would_go_on_is_ended_at_the_limit(
    cli: Cli, folder: Path, words: list[str]
) -> None:
    name, *rest = words
    at = line(folder, name, "return result")
    out = cli("probe", "--at", at, "at", "--limit", "2", *rest, "1000000000", cwd=folder, check=0)
    assert out.out.startswith("probe: 2 hits; the run was ended after 2 hits (")


def test_a_run_with_a_place_that_is_not_hit_as_often_goes_on_to_its_end(
    cli: Cli, folder: Path
) -> None:
    at = line(folder, "p.py", "return result")
    found = probed(cli, folder, "--at", at, "at", "--at", "run", "count", "--limit", "2",
                   "--", sys.executable, "p.py", "9")  # fmt: skip
    assert (found["outcome"], found["exit_code"]) == ("exited", 3)
    assert [place["hits"] for place in found["places"]] == [9, 1]
    ended = probed(cli, folder, "--at", at, "at", "--to", "2", "--", sys.executable, "p.py", "9")
    assert (ended["exit_code"], ended["places"][0]["hits"], len(rows(ended))) == (3, 9, 2)


def test_threads_are_told_apart(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    found = probed(cli, folder, "--at", at, "at", "--", sys.executable, "p.py", "3", "threads")
    assert len(found["rows"]) == 9
    assert {row["thread"] for row in found["rows"]} == {1, 2, 3}


def test_a_thread_of_python_is_chosen_by_its_name(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(
        "import threading\n\n\ndef work(n):\n    return n\n\n\n"
        "one = threading.Thread(target=work, args=(7,), name='blue')\n"
        "one.start()\none.join()\nwork(8)\n"
    )
    command = ("--", sys.executable, "named.py")
    for thread, value in (("blue", "7"), ("MainThread", "8")):
        words = ("--at", "named.py:5", "n", "--thread", thread, *command)
        assert [one for _, one in rows(probed(cli, tmp_path, *words))] == [[value]]
        told = cli("calls", "work", "--thread", thread, *command, cwd=tmp_path).out
        assert f"(n={value})" in told
        assert "1 shown line by line" in told


def test_an_expression_that_is_never_in_scope_says_what_is(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    words = ("--at", at, "nmae, at", "--", sys.executable, "p.py", "3")
    out = cli("probe", *words, cwd=folder, check=0).out
    assert "nmae: never a value: NameError" in out
    assert "in scope there: self at name result (did you mean name?)" in out
    assert "hit  at\n1  0\n" in out


@pytest.mark.adapter("lldb-dap")
def test_the_first_hit_is_told_of_a_function_and_of_a_line_in_it(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.c", "return result;")
    found = probed(cli, folder, "--adapter", "lldb-dap", "--at", at, "at", "--at", "worth", "at",
                   "--", "./p", "3")  # fmt: skip
    assert [place["hits"] for place in found["places"]] == [3, 3]


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    "adapter", ["lldb-dap", pytest.param("gdb", marks=pytest.mark.adapter("gdb"))]
)
def test_an_expression_that_a_debugger_does_not_know_has_no_value(
    cli: Cli, folder: Path, adapter: str
) -> None:
    at = line(folder, "p.c", "return result;")
    found = probed(cli, folder, "--adapter", adapter, "--at", at, "nmae, at", "--", "./p", "2")
    missing, known = found["places"][0]["columns"]
    assert missing["is_never_there"]
    assert "nmae" in missing["error"]
    assert not known["is_never_there"]
    assert [values[1] for _, values in rows(found)] == ["0", "1"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("p.py", "result = -1", "Box.worth was entered 3 times, and passed only lines"),
        ("p.py", "return at * 2", "unused was never entered"),
        ("json/decoder.py", None, "there is no file json/decoder.py, and none of that name was"),
        ("p.py", "self.size = size", "it was passed once, never with size > 7"),
    ],
)
def test_a_place_that_is_never_hit_says_how_near_the_run_came(
    cli: Cli, folder: Path, name: str, text: str | None, says: str
) -> None:
    at = line(folder, name, text) if text is not None else f"{name}:12"
    when = ["--when", "size > 7"] if "size" in (text or "") else []
    words = ("--at", at, "1", *when, "--", sys.executable, "p.py", "3")
    out = cli("probe", *words, cwd=folder, check=0 if when else 1).out
    assert says in out


@pytest.mark.parametrize(
    ("name", "text", "words", "says"),
    [
        pytest.param("p.c", "result = -1", ["--adapter", "lldb-dap", "--", "./p"],
                     "worth was entered (line 8), and never came to line 10",
                     marks=pytest.mark.adapter("lldb-dap")),
        pytest.param("p.c", "return twice", ["--adapter", "lldb-dap", "--", "./p"],
                     "unused was never entered (line 15)", marks=pytest.mark.adapter("lldb-dap")),
        pytest.param("p.js", "return -1", ["--", "node", "p.js"],
                     "worth was entered (line 3), and never came to line 5",
                     marks=pytest.mark.adapter("js-debug")),
    ],
)  # fmt: skip
def test_a_debugger_tells_whether_the_function_was_entered(  # noqa: PLR0917 - the cases
    cli: Cli, folder: Path, name: str, text: str, words: list[str], says: str
) -> None:
    at = line(folder, name, text)
    assert says in cli("probe", "--at", at, "1", *words, "3", cwd=folder, check=1).out


def test_a_line_without_code_names_the_nearest(cli: Cli, folder: Path) -> None:
    words = ("--at", "p.py:99", "1", "--", sys.executable, "p.py", "3")
    out = cli("probe", *words, cwd=folder, check=1).out
    assert "there is no code at line 99; nearest: " in out


def test_a_line_that_is_hit_very_often_is_sampled_and_counted(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    found = probed(cli, folder, "--at", at, "at", "--", sys.executable, "p.py", "60000")
    place = found["places"][0]
    assert place["hits"] == 60_000
    assert 10_000 <= place["taken"] < 40_000
    assert len(found["rows"]) < 320
    assert found["rows_total"] == place["taken"]


def test_a_program_that_never_ends_is_answered_in_part(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    words = ("--timeout", "1.5", "--at", at, "at", "--", sys.executable, "p.py", "4", "stays")
    answer = cli("probe", *words, cwd=folder, check=3)
    assert answer.out.startswith("probe: 4 hits; still running after 1.5 s, a part")
    assert "4  3" in answer.out


@pytest.mark.adapter("lldb-dap")
def test_a_signal_on_the_way_is_told(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.c", "return result;")
    words = ("--adapter", "lldb-dap", "--at", at, "at", "--", "./p", "2", "aborts")
    out = cli("probe", *words, cwd=folder, check=0).out
    assert "stopped by SIGABRT" in out
    assert "ended by signal SIGABRT" in out


def test_its_input_comes_from_a_file(cli: Cli, folder: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_text("some words\n")
    at = line(folder, "p.py", "return total")
    words = ("--output", "--stdin", str(given), "--at", at, "total", "--", sys.executable, "p.py")
    assert "read some words" in cli("probe", *words, "1", "reads", cwd=folder, check=0).out


@pytest.fixture
def living(folder: Path, start_idle_program: Cli) -> subprocess.Popen[bytes]:
    return start_idle_program(folder / "p", "0", "calls")


@pytest.mark.adapter("lldb-dap")
def test_a_process_is_looked_at_and_runs_on(
    cli: Cli, folder: Path, living: subprocess.Popen[bytes]
) -> None:
    at = line(folder, "p.c", "return result;")
    found = probed(cli, folder, "--adapter", "lldb-dap", "--pid", str(living.pid), "--limit", "3",
                   "--at", at, "result, name")  # fmt: skip
    assert len(found["rows"]) == 3
    assert (found["outcome"], found["timed_out"]) == ("running", False)
    assert living.poll() is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--", "./p"], "where, and what?"),
        (["--at", "p.c:8"], "which expressions at p.c:8?"),
        (["--at", "p.c:8", "--", "./p"], "which expressions at p.c:8?"),
        (["--at", "p.c:8", "a,,b", "--", "./p"], "an expression is empty"),
        (["--at", "p.c:8", "a", "--at", "p.c:8", "b", "--", "./p"], "p.c:8 is given twice"),
        (["--at", "p.c:8", "a", "--from", "9", "--to", "3", "--", "./p"], "--to is before --from"),
        (["--at", "p.c:8", "a", "--to", "soon", "--", "./p"], "100, 2.5s, 300ms; not 'soon'"),
        (["--at", "p.c:8", "a", "--when", "x", "--when", "y", "--", "./p"], "2 for 1"),
        (["--at", "p.c:8", "a", "--by", "recorder", "--", "./p"], "is for Python programs"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    cli: Cli, folder: Path, words: list[str], says: str
) -> None:
    answer = cli("probe", *words, cwd=folder)
    assert answer.exit != 0
    assert says in answer.err


def test_the_answer_is_kept_with_the_command_that_asks_again(cli: Cli, folder: Path) -> None:
    at = line(folder, "p.py", "return result")
    asked = ("--at", at, "at", "--when", "at > 0", "--limit", "2")
    words = (*asked, "--", sys.executable, "p.py", "3")
    cli("probe", *words, cwd=folder, check=0)
    shown = cli("evidence", "show", "e1", check=0).out
    assert f"debugger probe --at {at} at --when 'at > 0' --first 2 -- " in shown
    assert "2 hits" in shown


FORKS = """
#include <sys/wait.h>
#include <unistd.h>
static int child(int at) { return at + 1; }
int main(void) {
    for (int at = 0; at < 3; at++) if (!fork()) _exit(child(at));
    while (wait(0) > 0);
}
"""


@pytest.mark.adapter("frida")
def test_hits_of_child_processes_are_numbered_on(
    cli: Cli, compile_program: Callable[..., Path]
) -> None:
    forks = compile_program(FORKS, name="forks")
    found = probed(cli, forks.parent, "--at", "child", "at", "--", str(forks))
    assert [hit for hit, _ in rows(found)] == [1, 2, 3]
    assert sorted(values for _, values in rows(found)) == [["0"], ["1"], ["2"]]


WORKERS = """\
const { Worker } = require('worker_threads');
for (let n = 1; n <= 5; n++) new Worker(require.resolve('./worker.js'), { workerData: n });
"""
WORKER = """\
const { workerData } = require('worker_threads');
function work(n) {
  let sum = 0;
  for (let i = 0; i < 4; i++) {
    sum += n;
  }
}
work(workerData);
"""


@pytest.mark.adapter("js-debug")
def test_a_file_that_only_workers_of_node_load_is_probed_in_all_of_them(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "main.js").write_text(WORKERS)
    (tmp_path / "worker.js").write_text(WORKER)
    # js-debug answers some requests of a worker only once it runs: 30 s are then waited in vain.
    run = ["--timeout", "25", "--csv", "--", "node", "main.js"]
    answer = cli("probe", "--at", "worker.js:5", "n, sum", *run, cwd=tmp_path, check=0)
    rows = [line.split(",")[-2:] for line in answer.out.splitlines()[1:]]
    assert sorted(rows) == sorted([str(n), str(n * i)] for n in range(1, 6) for i in range(4))
    told = cli("probe", "--at", "worker.js:5", "n", *run[:2], *run[3:], cwd=tmp_path, check=0)
    assert "20 hits" in told.out
    assert "stopped by" not in told.out


def test_a_place_that_is_nowhere_is_refused_before_the_program_runs(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = "open('ran', 'w').close()\ndef price(n):\n    return n\nprice(1)\n"
    (tmp_path / "shop.py").write_text(program)
    for place, near in (("shpo.py:3", "shop.py"), ("pirce", "price")):
        answer = cli("probe", "--at", place, "n", "--", "python3", "shop.py", cwd=tmp_path, check=1)
        assert f"there is {near}" in answer.err
    assert not (tmp_path / "ran").exists()
    command = ("--", "python3", "shop.py")
    answer = cli("probe", "--at", "nope.py:3", "n", *command, cwd=tmp_path).out
    assert "there is no file nope.py, and none of that name was imported" in answer
    answer = cli("path", "--around", "nope.py:3", *command, cwd=tmp_path).err
    assert "there is no file nope.py in the program's own sources" in answer
    answer = cli("who-wrote", "n", "--at", "nope.py:3", *command, cwd=tmp_path).err
    assert "nope.py:3 was not reached: there is no file nope.py" in answer


def test_names_of_enclosing_functions_are_known_and_functions_of_one_name_are_places_of_their_own(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = (
        "class A:\n    def run(self, n):\n        return n\n"
        "class B:\n    def run(self, n):\n        return n\n"
        "def outer(base):\n    def inner(x):\n        return x\n    return inner(3)\n"
        "A().run(1)\nB().run(2)\nB().run(3)\nouter(10)\n"
    )
    (tmp_path / "prog.py").write_text(program)
    command = ("--", "python3", "prog.py")
    sums = "base + x, [base + q for q in range(2)]"
    answer = cli("probe", "--at", "prog.py:9", sums, *command, cwd=tmp_path, check=0)
    assert "1  13  [10, 11]" in " ".join(answer.out.split(" ")).replace("    ", "  ")
    answer = cli("probe", "--at", "run", "n", "--limit", "2", *command, cwd=tmp_path, check=0)
    assert "A prog.py:2 in A.run: 1 hit\nB prog.py:5 in B.run: 2 hits\n" in answer.out
    assert "A1 n=1\nB1 n=2\nB2 n=3\n" in answer.out


def test_equal_functions_of_two_files_are_told_apart(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part.py").write_text("def price(n):\n    return n\n")
    program = "import one.part, two.part\none.part.price(1)\ntwo.part.price(2)\n"
    (tmp_path / "prog.py").write_text(program)
    command = ("--", "python3", "prog.py")
    answer = cli("probe", "--at", "price", "n", *command, cwd=tmp_path, check=0)
    assert "A one/part.py:1 in price: 1 hit\nB two/part.py:1 in price: 1 hit\n" in answer.out
    answer = cli("path", *command, cwd=tmp_path, check=0)
    assert "price(n=1) one/part.py:1" in answer.out
    assert "price(n=2) two/part.py:1" in answer.out
