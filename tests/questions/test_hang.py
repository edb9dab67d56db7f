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

from debuggees import build

C = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *forth(void *given) {
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&second);
    return given;
}
static void *back(void *given) {
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&first);
    return given;
}
static int search(const int *list, int count, int wanted) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] < wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}
static long sum(long count) {
    volatile long total = 0;
    for (long round = 0; round < count; round++)
        for (int step = 0; step < 1000; step++)
            total += step;
    return total;
}
static int receive(int from) {
    char room[8];
    return (int)read(from, room, sizeof room);
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int list[] = {1, 2, 3, 5}, ends[2];
    pthread_t threads[2];
    puts("here");
    fflush(stdout);
    if (!strcmp(what, "deadlock")) {
        pthread_barrier_init(&both, NULL, 2);
        pthread_create(&threads[0], NULL, forth, NULL);
        pthread_create(&threads[1], NULL, back, NULL);
        pthread_join(threads[0], NULL);
    }
    if (!strcmp(what, "itself")) { pthread_mutex_lock(&first); pthread_mutex_lock(&first); }
    if (!strcmp(what, "busy")) return search(list, 4, 4);
    if (!strcmp(what, "slow")) return (int)sum(1L << 40);
    if (!strcmp(what, "pipe")) return pipe(ends) ? 9 : receive(ends[0]);
    if (!strcmp(what, "socket"))
        return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? 9 : receive(ends[0]);
    if (!strcmp(what, "child")) { if (fork() == 0) pause(); return wait(NULL); }
    if (!strcmp(what, "sleeps")) sleep(1000);
    return 3;
}
"""


@pytest.fixture(scope="module")
def program(compiled: Callable[..., Path]) -> Path:
    return compiled(C, "-pthread")


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
        ("deadlock", "deadlock", "deadlock of 2 threads: thread "),
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
    states = sorted(one["state"] for one in answer["groups"])
    assert states[0].startswith("waits for &first (0x")
    assert states[1].startswith("waits for &second (0x")
    assert all(", held by thread " in one for one in states[:2])
    assert "to end" in states[2]
    functions = [one["frames"][0]["function"] for one in answer["groups"]]
    assert sorted(functions) == ["back", "forth", "main"]


@pytest.fixture
def living(
    program: Path, alive: Callable[..., Any], request: pytest.FixtureRequest
) -> subprocess.Popen[bytes]:
    return alive(program, request.param)


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


PYTHON = """
import asyncio, queue, re, sys, threading
from concurrent.futures import ThreadPoolExecutor
class Box:
    def __init__(self):
        self.lock = threading.Lock()
def move(source, target, barrier):
    with source.lock:
        barrier.wait()
        with target.lock:
            pass
def locks():
    one, two, barrier = Box(), Box(), threading.Barrier(2)
    pairs = [(one, two), (two, one)]
    threads = [
        threading.Thread(target=move, args=(*pair, barrier), name=f"mover-{at}")
        for at, pair in enumerate(pairs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
def again():
    lock = threading.RLock()
    held = threading.Event()
    def hold():
        lock.acquire()
        held.set()
        threading.Event().wait()
    threading.Thread(target=hold, name="holder", daemon=True).start()
    held.wait()
    lock.acquire()
def busy():
    low, high, rounds = 2, 3, 0
    while low < high:
        rounds += 1
async def fetch():
    reply = asyncio.get_running_loop().create_future()
    return await reply
async def serve():
    await asyncio.gather(asyncio.create_task(fetch(), name="fetcher"))
def take():
    jobs = queue.Queue()
    jobs.get()
def drain():
    jobs = queue.Queue()
    jobs.put(1)
    jobs.join()
def pool():
    executor = ThreadPoolExecutor(1)
    def inner():
        reply = executor.submit(int)
        return reply.result()
    executor.submit(inner).result()
def match():
    re.match("(a+)+$", "a" * 60 + "!")
async def take_in_turn(first, second):
    async with first:
        await asyncio.sleep(0.01)
        async with second:
            pass
async def cross():
    left, right = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(take_in_turn(left, right), take_in_turn(right, left))
def tasks():
    asyncio.run(cross())
what = {"locks": locks, "again": again, "busy": busy, "take": take}
what |= {"drain": drain, "pool": pool, "match": match, "tasks": tasks}
print("here", flush=True)
asyncio.run(serve()) if sys.argv[1] == "future" else what[sys.argv[1]]()
"""


@pytest.mark.adapter("debugpy")
def test_of_an_attached_interpreter_that_does_not_answer_it_is_said_what_shows_the_call(
    cli: Callable[..., Any], tmp_path: Path, alive: Callable[..., subprocess.Popen[bytes]]
) -> None:
    (tmp_path / "script.py").write_text(PYTHON)
    living = alive(sys.executable, tmp_path / "script.py", "match")
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


WORKERS = """
import multiprocessing, sys, threading
lock = threading.Lock()
def work(number):
    if number == 2:
        lock.acquire()
        lock.acquire()
def fill(queue):
    queue.put("x" * 1000000)
if __name__ == "__main__" and sys.argv[1] == "pool":
    with multiprocessing.Pool(2) as pool:
        pool.map(work, [1, 2], chunksize=1)
elif __name__ == "__main__":
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=fill, args=(queue,))
    process.start()
    process.join()
"""


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


GO = """package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type store struct {
	mu    sync.Mutex
	count int
}

func (s *store) publish(out chan int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	out <- s.count
}

func (s *store) read() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func worker(jobs chan int, results chan int) {
	for job := range jobs {
		results <- job
	}
}

func beat() {
	for {
		time.Sleep(time.Second)
	}
}

func locked() {
	s := &store{}
	out := make(chan int)
	go s.publish(out)
	time.Sleep(100 * time.Millisecond)
	fmt.Println(s.read())
	fmt.Println(<-out)
}

func piped() {
	jobs := make(chan int)
	results := make(chan int)
	go worker(jobs, results)
	for job := 0; job < 5; job++ {
		jobs <- job
	}
	fmt.Println(<-results)
}

func main() {
	go beat()
	if os.Args[1] == "locked" {
		locked()
	}
	piped()
}
"""


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
    answer = _hang(cli, build("deadlock.go"))
    assert answer["kind"] == "deadlock"
    assert "all goroutines are asleep" in answer["cause"]


RUST = """use std::sync::{Arc, Barrier, Mutex};
use std::thread;

struct Stock {
    items: Mutex<u32>,
    orders: Mutex<u32>,
    both: Barrier,
}

fn ship(stock: &Stock) {
    let mut items = stock.items.lock().unwrap();
    stock.both.wait();
    let mut orders = stock.orders.lock().unwrap();
    *items -= 1;
    *orders -= 1;
}

fn take(stock: &Stock) {
    let mut orders = stock.orders.lock().unwrap();
    stock.both.wait();
    let mut items = stock.items.lock().unwrap();
    *items += 1;
    *orders += 1;
}

fn main() {
    let stock = Arc::new(Stock {
        items: Mutex::new(1),
        orders: Mutex::new(1),
        both: Barrier::new(2),
    });
    let other = stock.clone();
    let shipping = thread::spawn(move || ship(&other));
    take(&stock);
    shipping.join().unwrap();
}
"""


@EACH_ADAPTER
def test_who_holds_a_mutex_of_rust_is_read_from_the_guards(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str], adapter: str
) -> None:
    require_tool("rustc")
    (tmp_path / "prog.rs").write_text(RUST)
    words = ["rustc", "--edition=2021", "-g", "-o", "prog", "prog.rs"]
    subprocess.run(words, check=True, cwd=tmp_path, timeout=120)
    answer = _hang(cli, tmp_path / "prog", options=("--adapter", adapter))
    assert answer["kind"] == "deadlock", answer
    assert "deadlock of 2 threads" in answer["cause"]
    assert "the main thread waits for stock.items" in answer["cause"]
    assert "waits for stock.orders" in answer["cause"]


NODE = """const waiting = new Map();
function reply(number) {
  return new Promise((resolve) => waiting.set(number, resolve));
}
async function load(number) {
  const told = await reply(number);
  return told.total;
}
async function show() {
  console.log(await load(7));
}
function search(list, wanted) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted) low = middle;
    else high = middle;
  }
  return low;
}
if (process.argv[2] === "busy") search([1, 2, 3, 5], 4);
setInterval(() => {}, 1000);
show();
"""


LAUNCHER = """const { spawn } = require("node:child_process");
spawn(process.execPath, process.argv.slice(2), { stdio: "inherit" });
"""


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize("what", ["busy", "await"])
def test_of_what_only_starts_a_node_the_program_that_it_waits_for_is_told(
    cli: Callable[..., Any], tmp_path: Path, what: str
) -> None:
    (tmp_path / "launch.js").write_text(LAUNCHER)
    (tmp_path / "prog.js").write_text(NODE)
    words = ("node", "launch.js", "prog.js", what)
    answer = _hang(cli, *words, cwd=tmp_path, options=("--after", "3"))
    says = {"busy": "`while (low < high)` never changes", "await": "load awaits `reply(number)`"}
    assert says[what] in answer["cause"], answer
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
