"""`hang` explains why a program does not end, and leaves it unchanged."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee, program_text

C = program_text("counted_lines/hang.c")


@pytest.fixture(scope="module")
def program(compile_program: Callable[..., Path]) -> Path:
    return compile_program(C, "-pthread")


EACH_ADAPTER = pytest.mark.parametrize(
    "adapter",
    [
        pytest.param(one, marks=pytest.mark.adapter(one), id=one)
        for one in ("lldb-dap", "codelldb", "gdb")
    ],
)


def _hang(
    cli: Callable[..., Any], *words: object, cwd: Path | None = None, options: Sequence[str] = ()
) -> dict[str, Any]:
    options = ("--after", "1", *options)
    told = cli("hang", *options, "--json", "--", *map(str, words), check=0, cwd=cwd)
    data: dict[str, Any] = told.data["data"]
    assert cli("sessions", check=0).out == "no sessions\n"
    return data


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    ("what", "kind", "says"),
    [
        ("itself", "deadlock", "which it holds itself, in main prog.c:"),
        ("busy", "busy", "`while (low < high)` never changes low=2 high=3, in search prog.c:"),
        ("slow", "moving", "slow but moving: round "),
        ("pipe", "io", "a pipe, write end held by itself (fd "),
        ("socket", "io", "a Unix socket, in receive prog.c:"),
        ("child", "child", "waits for its child "),
        ("sleeps", "sleeping", "the main thread sleeps, in main prog.c:"),
        ("ends", "ended", "no hang: it ended with status 3"),
    ],
)
def test_a_native_program_is_told_for_what_it_waits(
    cli: Callable[..., Any], program: Path, what: str, kind: str, says: str
) -> None:
    answer = _hang(cli, program, what)
    assert answer["kind"] == kind, answer
    assert says in answer["cause"]
    assert answer["evidence"] == "e1"


@EACH_ADAPTER
def test_who_holds_a_lock_is_told_with_its_name_and_place(
    cli: Callable[..., Any], program: Path, adapter: str
) -> None:
    answer = _hang(cli, program, "deadlock", options=("--adapter", adapter))
    assert (answer["kind"], answer["evidence"]) == ("deadlock", "e1")
    assert "deadlock of 2 threads: thread " in answer["cause"]
    states = sorted(one["state"] for one in answer["groups"])
    assert states[0].startswith("waits for &first (0x")
    assert states[1].startswith("waits for &second (0x")
    assert all(", held by thread " in one for one in states[:2])
    assert "to end" in states[2]
    functions = [one["frames"][0]["function"] for one in answer["groups"]]
    assert sorted(functions) == ["back", "forth", "main"]


@pytest.fixture
def living(
    program: Path, start_idle_program: Callable[..., Any], request: pytest.FixtureRequest
) -> subprocess.Popen[bytes]:
    return start_idle_program(program, request.param)


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize("living", ["busy", "sleeps"], indirect=True)
def test_what_was_attached_to_runs_on(
    cli: Callable[..., Any], living: subprocess.Popen[bytes]
) -> None:
    answer = cli("hang", "--pid", str(living.pid), check=0)
    assert "note: it runs on, without the debugger" in answer.out
    assert living.poll() is None
    status = Path(f"/proc/{living.pid}/status").read_text(encoding="utf-8")
    assert "TracerPid:\t0" in status
    assert "(stopped)" not in status


@pytest.mark.parametrize("living", ["sleeps"], indirect=True)
def test_a_process_that_a_signal_has_stopped_is_said_to_be(
    cli: Callable[..., Any], living: subprocess.Popen[bytes], wait_until: Callable[..., None]
) -> None:
    os.kill(living.pid, signal.SIGSTOP)
    stat = Path(f"/proc/{living.pid}/stat")
    wait_until(lambda: stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T")
    answer = cli("hang", "--pid", str(living.pid), check=0)
    assert answer.out.startswith("it is stopped by a signal")
    assert f"kill -CONT {living.pid}" in answer.out


PYTHON = program_text("counted_lines/hang.py")


@pytest.mark.adapter("debugpy")
def test_of_an_attached_interpreter_that_does_not_answer_it_is_said_what_shows_the_call(
    cli: Callable[..., Any],
    tmp_path: Path,
    start_idle_program: Callable[..., subprocess.Popen[bytes]],
) -> None:
    (tmp_path / "script.py").write_text(PYTHON)
    living = start_idle_program(sys.executable, tmp_path / "script.py", "match")
    answer = cli("hang", "--pid", str(living.pid), check=0)
    assert f"debugger hang --adapter gdb --pid {living.pid} shows that call" in answer.out
    assert living.poll() is None


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("what", "kind", "says"),
    [
        ("locks", "deadlock", "waits for target.lock, held by mover-"),
        ("again", "waiting", "MainThread waits for lock, held by holder; holder waits for"),
        ("busy", "busy", "`while low < high:` never changes low=2 high=3, in busy script.py:"),
        ("future", "waiting", "fetcher awaits `reply`, a future that nobody has set"),
        ("take", "waiting", "MainThread receives from jobs, in take script.py:"),
        ("drain", "waiting", "the tasks of jobs (1 unfinished task, and no other thread of the"),
        ("pool", "deadlock", "awaits `reply`, which has not begun, and this is the only worker"),
        ("match", "busy", "no loop of several lines is seen, in match script.py:"),
        ("tasks", "deadlock", "waits for second, held by take_in_turn"),
    ],
)
def test_threads_locks_and_tasks_of_python_are_told(
    cli: Callable[..., Any], tmp_path: Path, what: str, kind: str, says: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    answer = _hang(cli, sys.executable, script, what, cwd=tmp_path)
    assert says in answer["cause"]
    assert answer["kind"] == kind


SLOTS = program_text("counted_lines/hang_slots.py")


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("what", "kind", "pattern"),
    [
        ("threads", "deadlock", r"waits for SLOTS, held by page-\d and page-\d"),
        ("tasks", "deadlock", r"waits for self.slots, held by Crawler.visit \(Task-\d\) and "),
        ("count", "waiting", r"MainThread waits for items, in count"),
    ],
)
def test_who_holds_the_permits_of_a_semaphore_is_named(
    cli: Callable[..., Any], tmp_path: Path, what: str, kind: str, pattern: str
) -> None:
    (tmp_path / "script.py").write_text(SLOTS)
    answer = _hang(cli, sys.executable, tmp_path / "script.py", what, cwd=tmp_path)
    assert re.search(pattern, answer["cause"]), answer["cause"]
    assert answer["kind"] == kind


WORKERS = program_text("counted_lines/hang_workers.py")


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("what", "kind", "says"),
    [
        ("pool", "deadlock", r"process \d+ waits for lock, which it holds itself, in work script"),
        ("queue", "child", r"\(forked by it\), .* QueueFeederThread of process \d+ writes to fd"),
    ],
)
def test_what_a_worker_process_does_is_told_with_what_waits_for_it(
    cli: Callable[..., Any], tmp_path: Path, what: str, kind: str, says: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(WORKERS)
    answer = _hang(cli, sys.executable, script, what, cwd=tmp_path)
    assert re.search(says, answer["cause"]), answer["cause"]
    assert answer["kind"] == kind


@pytest.mark.adapter("debugpy")
def test_a_python_that_was_attached_to_is_asked_and_let_go(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("gdb-cli")
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    words = [sys.executable, str(script), "locks"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            answer = cli("hang", "--pid", str(process.pid), check=0)
            assert answer.out.startswith("deadlock of 2 threads: mover-")
            assert process.poll() is None
        finally:
            process.kill()


GO = program_text("counted_lines/hang.go")


@pytest.fixture(scope="module")
def go_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hang-go")
    (folder / "prog.go").write_text(GO)
    words = ["go", "build", "-gcflags=all=-N -l", "-o", "prog", "prog.go"]
    subprocess.run(words, check=True, cwd=folder, timeout=120)
    return folder / "prog"


@pytest.mark.adapter("delve")
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("locked", ["main waits for s.mu", ", held by goroutine ", "sends to out"]),
        ("piped", ["main sends to jobs", "sends to results", "which main could end"]),
    ],
)
def test_goroutines_that_wait_for_each_other_are_a_deadlock(
    cli: Callable[..., Any], go_program: Path, what: str, says: list[str]
) -> None:
    answer = _hang(cli, go_program, what)
    assert answer["kind"] == "deadlock", answer
    for one in says:
        assert one in answer["cause"]


@pytest.mark.adapter("delve")
def test_a_deadlock_that_gos_runtime_ends_is_one(cli: Callable[..., Any]) -> None:
    answer = _hang(cli, build_debuggee("deadlock.go"))
    assert answer["kind"] == "deadlock"
    assert "all goroutines are asleep" in answer["cause"]


RUST = program_text("counted_lines/hang.rs")


@pytest.fixture(scope="module")
def rust_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hang-rust")
    (folder / "prog.rs").write_text(RUST)
    words = ["rustc", "--edition=2021", "-g", "-o", "prog", "prog.rs"]
    subprocess.run(words, check=True, cwd=folder, timeout=120)
    return folder / "prog"


@pytest.mark.adapter("rustc")
@EACH_ADAPTER
def test_who_holds_a_mutex_of_rust_is_read_from_the_guards(
    cli: Callable[..., Any], rust_program: Path, adapter: str
) -> None:
    answer = _hang(cli, rust_program, options=("--adapter", adapter))
    assert answer["kind"] == "deadlock", answer
    assert "deadlock of 2 threads" in answer["cause"]
    assert "the main thread waits for stock.items" in answer["cause"]
    assert "waits for stock.orders" in answer["cause"]


NODE = program_text("counted_lines/hang.js")


LAUNCHER = """const { spawn } = require("node:child_process");
spawn(process.execPath, process.argv.slice(2), { stdio: "inherit" });
"""


@pytest.mark.adapter("js-debug")
def test_of_what_only_starts_a_node_the_program_that_it_waits_for_is_told(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "launch.js").write_text(LAUNCHER)
    (tmp_path / "prog.js").write_text(NODE)
    words = ("node", "launch.js", "prog.js", "await")
    answer = _hang(cli, *words, cwd=tmp_path, options=("--after", "3"))
    assert "load awaits `reply(number)`" in answer["cause"], answer
    assert [one for one in answer["notes"] if "a process that the program started" in one]


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("what", "kind", "says"),
    [
        ("busy", "busy", "`while (low < high)` never changes"),
        (
            "await",
            "waiting",
            "load awaits `reply(number)`, which has not settled, in load prog.js:6",
        ),
    ],
)
def test_a_node_is_told_for_its_loop_or_its_awaits(
    cli: Callable[..., Any], tmp_path: Path, what: str, kind: str, says: str
) -> None:
    script = tmp_path / "prog.js"
    script.write_text(NODE)
    answer = _hang(cli, "node", script, what, cwd=tmp_path)
    assert answer["kind"] == kind, answer
    assert says in answer["cause"]


AWAITS = """const tail = new Promise(() => {});
async function worker(queue) {
  const first = await queue;
  return first + await tail;
}
await null;
const workers = [worker(1), worker(2), worker(3)];
setInterval(() => {}, 1000);
await Promise.all(workers);
"""


@pytest.mark.adapter("js-debug")
def test_each_await_of_a_module_is_told_once(cli: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "prog.mjs"
    script.write_text(AWAITS)
    answer = _hang(cli, "node", script, cwd=tmp_path)
    assert "worker (3 times) awaits `tail`, which has not settled" in answer["cause"]
    names = sorted(one["names"][0] for one in answer["groups"])
    assert names == ["<module>", "the main thread", "worker (3 times)"]


@pytest.mark.parametrize(
    ("words", "says", "status"),
    [
        (["--after", "-1", "--", "./prog"], "--after is in seconds", 2),
        (["--after", "1", "--pid", "1"], "--after is for a command", 2),
        (["--pid", "4194304"], "no process 4194304", 1),
        ([], "which command?", 2),
    ],
)
def test_what_cannot_be_meant_is_refused(
    cli: Callable[..., Any], words: list[str], says: str, status: int
) -> None:
    assert says in cli("hang", *words, check=status).err


RING = PROGRAMS / "hang"


@pytest.mark.parametrize(
    ("words", "breaks", "step"),
    [
        pytest.param(
            (sys.executable, "ring.py"),
            "node.next = new",
            "node = node.next",
            marks=pytest.mark.adapter("debugpy"),
        ),
        pytest.param(
            ("node", "ring.js"),
            "node.next = added",
            "node = node.next",
            marks=pytest.mark.adapter("js-debug"),
        ),
        pytest.param(
            ("ring.c",),
            "node->next = added",
            "node = node->next",
            marks=pytest.mark.adapter("lldb-dap"),
        ),
    ],
)
def test_a_loop_round_the_same_objects_is_told_with_the_line_that_linked_them(
    cli: Callable[..., Any],
    compile_program: Callable[..., Path],
    words: tuple[str, ...],
    breaks: str,
    step: str,
) -> None:
    *interpreter, name = words
    text = (RING / name).read_text(encoding="utf-8")
    lines = text.splitlines()
    program = RING / name if interpreter else compile_program(text)
    answer = _hang(cli, *interpreter, program, cwd=program.parent)
    assert answer["kind"] == "busy", answer
    assert f"goes round 2 objects by {step}" in answer["cause"]
    cycle = answer["loop"]["cycle"]
    assert (cycle["order"], lines[cycle["line"] - 1].strip(" ;")) == ("#1 → #2 → #1", step)
    writers = answer["loop"]["writers"]
    # The last line that linked one of these objects, by a second run, is the first.
    assert breaks in lines[writers[0]["line"] - 1]
    assert writers[0]["is_seen"] is True


@pytest.mark.adapter("lldb-dap")
def test_a_ring_whose_nodes_are_counted_is_no_progress(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    text = (RING / "counted_ring.c").read_text(encoding="utf-8")
    program = compile_program(text)
    answer = _hang(cli, program, cwd=program.parent)
    assert answer["kind"] == "busy", answer
    assert "never ends: node goes round 3 objects by node = node->next" in answer["cause"]
    lines = text.splitlines()
    written = [lines[one["line"] - 1].strip() for one in answer["loop"]["writers"]]
    assert written == ["c->next = a;", "b->next = c;", "a->next = b;"]


@pytest.mark.adapter("debugpy")
def test_the_conditions_that_would_end_a_loop_are_told_with_their_operands(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "spin.py"
    script.write_text(
        "def search(low, high):\n"
        "    tries = 0\n"
        "    while True:\n"
        "        tries += 1\n"
        "        middle = (low + high) // 2\n"
        "        if middle == high:\n"
        "            return tries\n"
        "        low = middle\n"
        "        if tries < 0:\n"
        "            for one in (1, 2):\n"
        "                if one == tries:\n"
        "                    break\n"
        "            raise ValueError(low)\n"
        "search(2, 3)\n"
    )
    answer = _hang(cli, sys.executable, script, cwd=tmp_path)
    assert "never ends: `middle == high` (line 6) is false in all 10 turns" in answer["cause"]
    exits = {one["line"]: one for one in answer["loop"]["exits"]}
    # The `break` of the inner loop does not leave this one.
    assert sorted(exits) == [6, 9]
    assert exits[6]["reached"] == 10
    assert exits[6]["values"] == "middle=2 each time high=3 each time"
    assert answer["loop"].get("cycle") is None


@pytest.mark.adapter("delve")
def test_a_goroutine_that_computes_in_a_loop_is_busy(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    source = tmp_path / "ring.go"
    source.write_text((RING / "ring.go").read_text(encoding="utf-8"))
    answer = _hang(cli, source, cwd=tmp_path)
    assert answer["kind"] == "busy", answer
    assert "for at != nil" in answer["cause"]


@pytest.mark.adapter("lldb-dap")
def test_of_an_interpreters_loop_it_is_told_what_keeps_it_going(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    text = (RING / "vm.c").read_text(encoding="utf-8")
    program = compile_program(text)
    answer = _hang(cli, program, cwd=program.parent)
    assert answer["kind"] == "busy", answer
    assert "next_key returns the same 2 values in turn" in answer["cause"]
    returned = answer["loop"]["returns"]
    lines = text.splitlines()
    assert [(one["function"], lines[one["line"] - 1].strip()) for one in returned[:1]] == [
        ("next_key", "return at;")
    ]
    assert sorted(returned[0]["values"]) == ["2", "4"]
    # A sum that grows is no reason.
    assert "add" not in {one["function"] for one in returned}


@pytest.mark.adapter("debugpy")
def test_a_loop_over_a_generator_is_told_by_the_generators_own_loop(
    cli: Callable[..., Any],
) -> None:
    text = (RING / "gen.py").read_text(encoding="utf-8")
    lines = text.splitlines()
    answer = _hang(cli, sys.executable, RING / "gen.py", cwd=RING)
    # Where the samples are in the generator by chance, its loop is known without the step into it.
    assert "`while node is not None:` never ends: node goes round 2 objects by" in answer["cause"]
    cycle = answer["loop"]["cycle"]
    assert cycle["statement"] == "after = node.next"
    writers = [lines[one["line"] - 1] for one in answer["loop"]["writers"]]
    assert writers[:2] == ["second.next = first", "first.next = second"]
