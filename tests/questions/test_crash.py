"""`crash` answers whatever the program does, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text
from debugger.errors import DebuggerError
from debugger.questions.crash.crash_stops import raised_breakpoints

PROGRAM = program_text("counted_lines/crash.c")


@pytest.fixture(scope="module")
def program(compile_program: Callable[..., Path]) -> Path:
    return compile_program(PROGRAM)


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    ("what", "kind", "says"),
    [
        ("null", "null_pointer", "null pointer: *place, place=0x0"),
        ("deep", "stack_overflow", "frames of deep"),
        ("zero", "division_by_zero", "division by zero: among-2=0 among=2"),
        ("assert", "assertion", "assertion failed: first == second with first=1 second=2"),
        ("abort", "abort", "abort"),
        ("wild", "bad_pointer", "bad pointer: *place, place=0x7fff12345678"),
        ("literal", "read_only", "read-only memory"),
        ("jump", "bad_jump", "call of what is no code: 0x1234"),
        ("twice", "double_free", "free(): double free detected"),
        ("moves", "null_pointer", "null pointer: *place"),
        ("usr1", "signal", "SIGUSR1"),
    ],
)
def test_a_crash_is_answered_with_its_cause(
    cli: Callable[..., Any], program: Path, what: str, kind: str, says: str
) -> None:
    answer = cli("crash", "--json", "--", program, what, check=0).data["data"]
    assert answer["outcome"] == "crashed"
    assert says in answer["cause"]
    assert answer["kind"] == kind
    assert answer["evidence"] == "e1"
    assert cli("sessions", check=0).out == "no sessions\n"


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ends"], "no crash: exited with status 3"),
        (["reads"], "end of input: 1"),
        (["daemon"], "note: ended what the program left running"),
        (["prints"], "null pointer: *place"),
    ],
)
def test_whatever_it_does_there_is_an_answer(
    cli: Callable[..., Any], program: Path, words: list[str], says: str
) -> None:
    answer = cli("crash", "--", program, *words, check=0)
    assert says in answer.out
    assert len(answer.out) < 4000


ABORTS = """
#include <stdio.h>
#include <stdlib.h>
static int *find(int *all, int n, int key) {
    int *found = NULL;
    for (int i = 0; i < n; i++) found = all[i] == key ? &all[i] : found;
    return found;
}
int main(void) {
    int all[] = {3, 5};
    int *found = find(all, 2, 4);
    if (!found) abort();
    return *found;
}
"""


@pytest.mark.adapter("lldb-dap")
def test_an_abort_names_the_value_of_the_condition_that_led_to_it(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "aborts.c").write_text(ABORTS)
    subprocess.run(["gcc", "-g", "-o", "aborts", "aborts.c"], cwd=tmp_path, check=True)
    answer = cli("crash", "--json", "--", tmp_path / "aborts", cwd=tmp_path).data["data"]
    assert answer["cause"].startswith("abort with found=0x0")
    assert (answer["why"]["expression"], answer["why"]["frame"]["line"]) == ("found", 5)


RECURSION = """
fn fact(n: u64, name: &str) -> u64 {
    let pad = [n; 32];
    fact(n + 1, name) * pad[3]
}
fn main() {
    println!("{}", fact(1, "start"));
}
"""


@pytest.fixture(scope="module")
def recursion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recursion")
    (folder / "deep.rs").write_text(RECURSION)
    subprocess.run(["rustc", "-g", "deep.rs"], cwd=folder, check=True, capture_output=True)
    return folder / "deep"


@pytest.mark.parametrize(
    "by",
    [
        pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
        pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
        pytest.param(("--backend", "frida"), marks=pytest.mark.adapter("frida")),
    ],
)
def test_a_deep_recursion_of_rust_is_a_stack_overflow_with_its_first_arguments(
    cli: Callable[..., Any], recursion: Path, by: tuple[str, str]
) -> None:
    answer = cli("crash", "--json", *by, "--", recursion, check=0, timeout=120).data["data"]
    assert (answer["kind"], answer["signal"]) == ("stack_overflow", "SIGSEGV")
    assert "frames of deep::fact" in answer["cause"]
    assert 'name="start"' in [f"{one['name']}={one['value']}" for one in answer["locals"]]
    if "frida" not in by:  # it gives the innermost 10,000 frames
        assert 'the recursion began with deep::fact(n=1 name="start")' in answer["notes"]
        assert answer["callers"][-1]["frame"]["function"] == "deep::main"
    else:
        assert "at least 10,000" in answer["cause"]


DAEMON = """
import os, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open("pid", "w").write(str(os.getpid()))
time.sleep(600)
"""


@pytest.mark.adapter("debugpy")
def test_a_daemon_that_a_python_program_leaves_is_ended_and_told(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    # Its parent has ended when debugpy hears of it, and that parent's own had before. On a busy
    # machine that may be after the program's end: it is ended then all the same, but not told.
    (tmp_path / "leaves.py").write_text(DAEMON)
    notes: list[str] = []
    for _ in range(4):
        answer = cli("crash", "--json", "--", sys.executable, "leaves.py", check=0, cwd=tmp_path)
        told = answer.data["data"]
        assert (told["outcome"], told["exit_code"]) == ("exited", 0)
        pid = tmp_path / "pid"
        left = int(pid.read_text()) if pid.is_file() else 0  # it may be ended before it writes
        assert not left or not Path(f"/proc/{left}").exists()
        assert cli("sessions", check=0).out == "no sessions\n"
        if notes := told["notes"]:
            break
    assert notes == [f"ended what the program left running: process {left}"]


@pytest.mark.adapter("lldb-dap")
def test_a_program_that_never_ends_is_answered_in_part(
    cli: Callable[..., Any], program: Path
) -> None:
    answer = cli("crash", "--timeout", "1", "--", program, "stays", check=3)
    assert answer.out.startswith("no crash yet: still running after 1 s; it was in ")
    assert "output: here" in answer.out
    assert cli("sessions", check=0).out == "no sessions\n"


@pytest.mark.adapter("lldb-dap")
def test_a_client_that_goes_away_leaves_nothing(
    runtime_dir: Path, cli: Callable[..., Any], program: Path, wait_until: Callable[..., None]
) -> None:
    cli("sessions", check=0)  # starts the daemon, which both would start otherwise
    words = [sys.executable, "-m", "debugger", "crash", "--", str(program), "stays"]
    asking = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: "running" in cli("sessions").out)
    finally:
        asking.kill()
        asking.wait()
    wait_until(lambda: cli("sessions").out == "no sessions\n")


@pytest.mark.adapter("lldb-dap")
def test_the_current_session_stays_the_current_one(cli: Callable[..., Any], program: Path) -> None:
    cli("start", program, "--stop-on-entry", check=0)
    cli("crash", "--", program, "null", check=0)
    assert cli("sessions", "--json").data["data"]["current"] == "prog"
    assert cli("status", "--json").data["data"]["state"] == "stopped"


@pytest.mark.adapter("lldb-dap")
def test_a_kept_session_is_stopped_where_it_crashed(cli: Callable[..., Any], program: Path) -> None:
    answer = cli("crash", "--keep", "--json", "--", program, "null", check=0).data["data"]
    assert answer["session"] == "crash"
    assert "place = 0x0" in cli("print", "place", check=0).out
    assert cli("stop", check=0).out == "ended: crash\n"


@pytest.fixture
def living(program: Path, start_idle_program: Callable[..., Any]) -> subprocess.Popen[bytes]:
    return start_idle_program(program, "stays")


@pytest.mark.adapter("lldb-dap")
def test_a_process_that_hangs_on_is_left_running(
    cli: Callable[..., Any], living: subprocess.Popen[bytes]
) -> None:
    answer = cli("crash", "--pid", str(living.pid), "--timeout", "1")
    assert "it runs on, without the debugger" in answer.out
    assert living.poll() is None


PYTHON = program_text("counted_lines/crash.py")


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("none", "crash: None: order.customer is None, .address of it is read (AttributeError)"),
        ("key", "crash: key 'port' is not in settings[\"server\"] (KeyError)"),
        ("index", "crash: index 7 out of range, order.items has 2 (IndexError) with at=7"),
        ("zero", "crash: division by zero: zero*2 is 0 (ZeroDivisionError) with zero=0"),
        ("assert", "crash: assertion failed: they differ with at=7 zero=0"),
        ("deep", "crash: stack overflow: "),
        ("native", "crash: Segmentation fault in compiled code, in run"),
        ("thread", "survived: index 7 out of range"),
        ("exits", "no crash: exited with status 4"),
        ("reads", "its input is empty"),
        ("replaced", "why: what='replaced', "),
    ],
)
def test_what_python_raises_is_explained(
    cli: Callable[..., Any], tmp_path: Path, what: str, says: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    assert says in cli("crash", "--", sys.executable, script, what, check=0, cwd=tmp_path).out


@pytest.mark.parametrize(
    ("words", "says", "status"),
    [
        ([], "which command?", 2),
        (["./prgo"], "there is prog", 1),
        (["./prog | wc"], "'|' is for a shell", 2),
        (["./prog", "&&", "ls"], "'&&' is for a shell", 2),
        (["./prog null"], "is one word", 2),
        (["bash", "-c", "x"], "a shell cannot be read", 2),
        (["python3"], "reads one from a terminal", 2),
        (["node", "-p", "1"], "code on a command line has no source", 2),
        (["python3", "porg.py"], "no such file: porg.py", 1),
        (["go", "run"], "expected a package after go run", 2),
        (["A=1"], "only variables were given", 2),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused(
    cli: Callable[..., Any], tmp_path: Path, words: list[str], says: str, status: int
) -> None:
    prog = tmp_path / "prog"
    prog.write_text("#!/bin/sh\n")
    os.chmod(prog, 0o755)
    answer = cli("crash", "--", *words, cwd=tmp_path, check=status)
    assert says in answer.err
    assert "hint: debugger crash" in answer.err


CAUGHT = program_text("counted_lines/crash_caught.py")


@pytest.mark.adapter("debugpy")
def test_the_first_exception_in_its_own_code_can_be_asked_for(
    cli: Callable[..., Any],
    tmp_path: Path,
    start_idle_program: Callable[..., subprocess.Popen[bytes]],
) -> None:
    (tmp_path / "caught.py").write_text(CAUGHT)
    words = (sys.executable, tmp_path / "caught.py")
    answer = cli("crash", "--raised", "--", *words, check=0)
    said = "raised: key 'XX' is not in RATES (KeyError)"
    assert answer.out.startswith(said), str(answer)
    assert "in rate caught.py:5" in answer.out
    assert "note: the program was ended then" in answer.out
    assert cli("crash", "--", *words, check=0).out.startswith("no crash: exited with status 0")
    living = start_idle_program(*words, "stays")
    answer = cli("crash", "--raised", "--pid", str(living.pid), check=0)
    assert answer.out.startswith(said), str(answer)
    assert "note: it runs on, without the debugger" in answer.out
    assert living.poll() is None
    answer = cli("crash", "--pid", str(living.pid), "--timeout", "1")
    assert answer.exit == 3
    assert "debugger crash --raised --pid N waits for the first" in answer.out


def test_a_language_whose_exceptions_cannot_be_stopped_at_is_told() -> None:
    with pytest.raises(DebuggerError, match="--raised is for programs in Python"):
        raised_breakpoints(["lua"])


CAUGHT_IN_CPP = """#include <stdexcept>
int parse(int n) {
  if (n > 3) throw std::out_of_range("too many");
  return n;
}
int main() {
  try { return parse(4); } catch (const std::exception &) { return 0; }
}
"""
CAUGHT_IN_RUST = """fn parse(n: i32) -> i32 {
    if n > 3 { panic!("too many"); }
    n
}
fn main() { let _ = std::panic::catch_unwind(|| parse(4)); }
"""
CAUGHT_IN_GO = """package main

func parse(n int) int {
	if n > 3 {
		panic("too many")
	}
	return n
}

func main() {
	defer func() { _ = recover() }()
	parse(4)
}
"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("caught.cpp", CAUGHT_IN_CPP, "out_of_range: too many, in parse caught.cpp:3"),
        ("caught.rs", CAUGHT_IN_RUST, "panic: too many, in caught::parse caught.rs:2"),
        pytest.param(
            "caught.go", CAUGHT_IN_GO, "panic: too many, in main.parse caught.go:5",
            marks=pytest.mark.adapter("delve"),
        ),
    ],
)  # fmt: skip
def test_a_caught_exception_of_a_compiled_language_is_found(
    cli: Callable[..., Any], tmp_path: Path, name: str, text: str, said: str
) -> None:
    source, program = tmp_path / name, tmp_path / "caught"
    source.write_text(text)
    builds = {".cpp": ("g++", "-g", source, "-o", program), ".rs": ("rustc", "-g", source)}
    words: tuple[Any, ...] = ("go", "run", source)
    if source.suffix in builds:
        subprocess.run(builds[source.suffix], check=True, cwd=tmp_path)
        words = (program,)
    answer = cli("crash", "--raised", "--", *words, cwd=tmp_path, check=0)
    assert answer.out.startswith(f"raised: {said}"), str(answer)


THROWN_ON = """#include <map>
#include <string>
std::map<std::string, int> sizes{{"a", 1}};
int work(const std::string &key) {
  try {
    int size = sizes.at(key);
    return size;
  } catch (...) {
    throw;
  }
}
int main() {
  try { work("b"); } catch (const std::exception &) {}
  return work("c");
}
"""


def test_a_handler_of_cpp_that_throws_on_does_not_hide_where_it_was_thrown(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    source, program = tmp_path / "on.cpp", tmp_path / "on"
    source.write_text(THROWN_ON)
    subprocess.run(("g++", "-g", source, "-o", program), check=True)
    data = cli("crash", "--json", "--", program, check=0).data["data"]
    assert (data["outcome"], data["exit_signal"]) == ("crashed", "SIGABRT")
    assert data["cause"].startswith("key key="), data["cause"]
    assert '"c" is not in sizes (out_of_range), in work on.cpp:6' in data["cause"]
    data = cli("crash", "--json", "--no-why", "--", program, check=0).data["data"]
    assert data["cause"].endswith("in work on.cpp:9"), "without a further run it is the handler"


PASSED_ON = """fn handle(n: i32) {
    if n == 7 { panic!("bad item {}", n); }
}
fn main() {
    let thread = std::thread::Builder::new().name("worker".into()).spawn(|| handle(7)).unwrap();
    thread.join().unwrap();
}
"""


@pytest.mark.adapter("lldb-dap")
def test_the_panic_of_a_thread_is_the_crash_and_not_the_unwrap_that_passes_it_on(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "passed.rs").write_text(PASSED_ON)
    subprocess.run(["rustc", "-g", "passed.rs"], check=True, cwd=tmp_path)
    answer = cli("crash", "--", "./passed", check=0, cwd=tmp_path)
    assert answer.out.startswith("crash: panic: bad item 7, in passed::handle passed.rs:2\n")
    assert "thread worker; other threads: passed::main passed.rs:6" in answer.out
    assert "note: it was passed on: unwrap() of Err: Any" in answer.out


@pytest.mark.adapter("debugpy")
def test_evidence_is_kept_and_becomes_stale(cli: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("def run(order):\n    return order.total\nrun(None)\n")
    cli("crash", "--", sys.executable, script, check=0, cwd=tmp_path)
    listed = cli("evidence", check=0).out
    assert "e1 " in listed
    assert "stale" not in listed
    script.write_text("def run(order):\n    return 0\nrun(None)\n")
    assert "stale: changed since: " in cli("evidence", "show", "e1", check=0).out
    report = tmp_path / "report.md"
    cli("evidence", "export", report, check=0)
    text = report.read_text()
    assert f"cd {tmp_path}" in text
    assert f"debugger crash -- {sys.executable} {script}" in text
    assert "order is None" in text
    assert "**Stale**" in text
    refused = cli("evidence", "export", "/dev/full", check=1)
    assert "cannot write /dev/full: it is not a file" in refused.err
    cli("evidence", "show", "e7", check=1)


@pytest.mark.adapter("js-debug")
def test_an_error_of_a_worker_is_reported_where_the_worker_threw_it(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "workers.js").write_text(
        "const { Worker, isMainThread } = require('worker_threads');\n"
        "function divide(a, b) {\n  if (b === 0) throw new RangeError('three');\n"
        "  return a / b;\n}\n"
        "if (isMainThread) new Worker(__filename);\nelse divide(7, 0);\n"
    )
    answer = cli("crash", "--", "node", "workers.js", cwd=tmp_path, timeout=90, check=0)
    assert answer.out.startswith("crash: RangeError: three, in divide workers.js:3\n"), answer.out
    assert "b=0" in answer.out


FORKED = """#include <sys/wait.h>
#include <unistd.h>
static int take(int *from) { return *from; }
int main(int argc, char **argv) {
    int status, *nothing = 0;
    if (!fork()) return take(nothing);
    wait(&status);
    return argc > 1 && status;
}
"""


@pytest.mark.adapter("lldb-dap", "gdb", "frida")
def test_what_a_program_forks_is_seen_by_another_debugger_and_lldb_says_so(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    path = compile_program(FORKED, name="forked")
    calm = cli("crash", "--", path, check=0).out
    assert calm.startswith("no crash: exited with status 0")
    assert (
        "note: lldb-dap does not see what it forks: --backend frida does, and --adapter gdb" in calm
    )
    told = cli("crash", "--adapter", "gdb", "--", path, check=0).out
    place = "null pointer: *from, from=0x0, in take forked.c:3"
    assert place in told
    # A program that fails, for a process that it started, is run again with one that sees it.
    failed = cli("crash", "--", path, "x", check=0).out
    assert place in failed
    assert "note: the program was run again by frida, which also sees the proc" in failed
    called = cli("calls", "take", "--", path, check=0).out
    assert called.startswith("calls: 1 call of take")
    assert "has inlined it" not in called


@pytest.mark.adapter("gdb")
def test_a_sanitizers_report_is_told_where_the_debugger_does_not_stop_for_it(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    code = "#include <stdlib.h>\nint main(void) {\n    char *p = malloc(4);\n    return p[4];\n}\n"
    path = compile_program(code, "-fsanitize=address", name="over")
    told = cli("crash", "--adapter", "gdb", "--", path, check=0).out
    first, *rest = told.splitlines()
    assert first.startswith("crash: heap buffer overflow (ASan), read of 1 bytes, 0 bytes after")
    assert first.endswith("in main over.c:4")
    assert "note: allocated in main over.c:3" in rest
    assert "note: the debugger did not see it: this is from the program's own report" in rest
    # `--at crash` is there, too.
    why = cli("why", "p", "--at", "crash", "--timeout", "100", "--", path, check=0, timeout=120).out
    assert why.splitlines()[0].endswith("in main at over.c:4")
    assert "end (allocation): malloc(4) at over.c:3" in why


@pytest.mark.adapter("frida")
def test_frida_tells_which_address_it_was(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    path = compile_program("int at(int *p) { return p[3]; }\nint main(void) { return at(0); }\n")
    told = cli("crash", "--backend", "frida", "--", path, check=0).out
    assert "\nSIGSEGV at 0xc (near null: 12 bytes from a null pointer)\n" in told


def test_the_librarys_function_that_raised_is_named_beside_the_programs_own_line(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "reads.py"
    program.write_text("import json\ndef read(text):\n    return json.loads(text)\nread('{')\n")
    answer = cli("--json", "crash", "--", sys.executable, program, check=0).data["data"]
    assert (answer["frame"]["function"], answer["frame"]["line"]) == ("read", 3)
    assert answer["inside"]["function"] in {"raw_decode", "decode"}


@pytest.mark.adapter("debugpy")
def test_code_on_a_command_line_imports_from_the_callers_directory(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text("def main(n):\n    return 6 // n\n")
    words = ("crash", "--json", "--", sys.executable, "-c", "import app\napp.main(0)")
    answer = cli(*words, cwd=tmp_path, check=0).data["data"]
    assert "division by zero: n is 0" in answer["cause"]
    callers = [(Path(one["frame"]["file"]).name, one["frame"]["line"]) for one in answer["callers"]]
    assert callers == [("python-c.py", 2)]


@pytest.mark.adapter("js-debug")
def test_code_on_nodes_command_line_has_what_node_gives_it(
    shared_cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "app.js").write_text("exports.main = (list) => {\n  return list.length;\n};\n")
    code = (
        "const app = require('./app');\n"
        "console.log(typeof fs.readFileSync, process.argv[1], require.main, module.id);\n"
        "app.main();"
    )
    words = ("crash", "--json", "--", "node", "-e", code, "one")
    answer = shared_cli(*words, cwd=tmp_path, check=0).data["data"]
    assert answer["cause"].startswith("undefined: list is undefined, .length of it is read")
    callers = [(Path(one["frame"]["file"]).name, one["frame"]["line"]) for one in answer["callers"]]
    assert callers == [("node-e.cjs", 3)]
    assert "function one undefined [eval]" in str(answer["output"])


@pytest.mark.adapter("js-debug")
def test_a_read_before_the_declaration_names_its_line(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "early.js").write_text(
        "function early() {\n  return later.x;\n}\nearly();\nconst later = { x: 1 };\n"
    )
    answer = cli("crash", "--", "node", "early.js", check=0, cwd=tmp_path)
    assert "note: later is declared in line 5, and has no value before" in answer.out
