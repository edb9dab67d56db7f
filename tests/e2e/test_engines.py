"""Groups of real engines: pytest-xdist, gunicorn, cloudpickle, Dask, Celery; torch and Ray opt-in.

These two are too large for each run of the tests. They run where DEBUGGER_ENGINES_PYTHON names a
Python that has them: `DEBUGGER_ENGINES_PYTHON=venv/bin/python pytest tests/e2e/test_engines.py`.
A job of torch.distributed is played by a stand-in with the names of its modules and functions.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from process_trees import is_alive, list_sessions, read_again

ODD = marked_location("groups/train.py", "odd")
MEET = marked_location("groups/train.py", "meet")
NEVER = marked_location("groups/wsgi.py", "body")
ENGINES = os.environ.get("DEBUGGER_ENGINES_PYTHON", "")
pytestmark = pytest.mark.adapter("debugpy")


def members_of(cli: Cli) -> dict[str, dict[str, Any]]:
    return {one["label"]: one for one in read_again(cli, "status")["members"]}


def end_group(cli: Cli, wait_until: Callable[..., None]) -> None:
    """End the current group, and check that nothing is left of it."""
    pids = [one["pid"] for one in list_sessions(cli).values()]
    cli("stop", check=0)
    assert list_sessions(cli) == {}
    wait_until(lambda: not any(map(is_alive, pids)), what="the end of all processes")


def test_the_rank_in_another_collective_call_is_named_by_one_command(cli: Cli) -> None:
    job = resolve_program("groups/launch.py")
    verdict = read_again(cli, "hang", "--group", "--after", "2", "--", job, "odd")["verdict"]
    first, *others = verdict["rows"]
    place = f"{first['place']['file']}:{first['place']['line']}"
    assert (first["members"], place) == (["2"], ODD), verdict
    assert first["call"] == "barrier #4"
    assert others[0]["call"] == "all_reduce #4"
    assert others[0]["detail"] == "[4, 3] float32"
    assert verdict["cause"].startswith("2 waits in barrier #4 at save_checkpoint train.py:")
    assert [one["members"] for one in verdict["rows"] if one["is_laggard"]] == [["2"]]
    assert list_sessions(cli) == {}


def test_the_rank_whose_value_differs_first_is_named_with_the_hit(cli: Cli) -> None:
    job = resolve_program("groups/launch.py")
    answer = read_again(cli, "probe", "--group", "--at", MEET, "loss, number", "--", job)
    assert answer["members"] == ["main", "0", "1", "2", "3"]
    (place,) = answer["places"]
    assert place["counts"] == [{"value": "4", "members": ["0", "1", "2", "3"]}]
    loss, number = place["expressions"]
    assert (loss["expression"], loss["hit"], loss["differing"]) == ("loss", 3, 1)
    assert loss["values"][1] == {"value": "nan", "members": ["1"]}
    assert (number["expression"], number["hit"]) == ("number", None)
    refusals = [
        (("probe", "--group", "--at", MEET, "loss", "--rows", "3", "--", job), "takes no --rows"),
        (("diff", "--group", "--at", MEET, "loss", "--", job, "--vs", job), "takes no --vs"),
        (("diff", "--group", "--at", NEVER, "x", "--", job), "none of 5 processes came to"),
    ]
    for words, message in refusals:
        assert message in cli(*words, check=None).err


SHARDED = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_half(number):
    half = number / 2
    assert half < 9
"""


def test_workers_of_xdist_are_members_by_their_names(
    cli: Cli, wait_until: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # What the program inherits names none of its members.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the others take seconds to load
    tests = tmp_path / "test_sharded.py"
    tests.write_text(SHARDED)
    words = ("-m", "pytest", "--", "-p", "xdist", "-n", "2", "-p", "no:cacheprovider", str(tests))
    start = ("start", "--group", "--timeout", "50", "--break", f"{tests}:7")
    cli(*start, "--python", sys.executable, *words, check=0, cwd=tmp_path)

    def stopped() -> list[str]:
        # A worker that has just stopped may answer late which it is.
        return [label for label, one in members_of(cli).items() if one["state"] == "stopped"]

    wait_until(lambda: stopped() == ["gw0", "gw1"], 60, what="both workers at the breakpoint")
    (row,) = read_again(cli, "print", "number", "--members", "gw*")["rows"]
    assert {label for one in row["values"] for label in one["members"]} == {"gw0", "gw1"}
    end_group(cli, wait_until)


def test_a_worker_of_gunicorn_stops_at_a_request(
    cli: Cli, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    place = marked_location("groups/wsgi.py", "body")
    listening = tmp_path / "server.sock"
    server = shutil.which("gunicorn", path=str(Path(sys.executable).parent))
    assert server is not None
    words = ("--no-control-socket", "-w", "2", "-b", f"unix:{listening}", "wsgi:app")
    folder = str(Path(place.rpartition(":")[0]).parent)
    cli("start", "--group", "--no-wait", "--break", place, server, "--", "--chdir", folder, *words)
    wait_until(lambda: list(members_of(cli)) == ["main", "w1", "w2"], 60, what="both workers")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(listening))
        client.sendall(b"GET /here HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
        stop = answer_data(cli("--json", "await", "--timeout", "30", check=0))
        assert stop["member"] in {"w1", "w2"}
        assert read_again(cli, "print", "path")["rows"][0]["values"][0]["value"] == "'/here'"
        cli("continue", "--no-wait", check=0)
        assert client.makefile("rb").read().endswith(b"hello /here")
    end_group(cli, wait_until)


def test_a_breakpoint_is_met_in_a_function_that_was_sent_to_a_worker(cli: Cli) -> None:
    program = resolve_program("groups/send_code.py")
    place = marked_location("groups/send_code.py", "result")
    words = ("start", "--group", "--python", sys.executable, program, "--break", place)
    stop = answer_data(cli("--json", *words, "--timeout", "50", check=0))
    assert (stop["stop"]["reason"], stop["stop"]["frame"]["function"]) == ("breakpoint", "square")
    assert stop["member"] != "main"
    cli("stop", check=0)


# -- engines that are packages of their own -----------------------------------------------------


def find_engine(module: str) -> str:
    """Return the Python that has an engine; skip the test, saying so, where there is none."""
    if importlib.util.find_spec(module) is not None:
        return sys.executable
    if not ENGINES:
        assert not (module in {"celery", "distributed"} and "CI" in os.environ), module
        pytest.skip(f"left out: the real {module}; DEBUGGER_ENGINES_PYTHON names no Python")
    found = subprocess.run([ENGINES, "-c", f"import {module}"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"left out: the real {module} is not installed for {ENGINES}")
    return ENGINES


def write_program(folder: Path, text: str) -> str:
    program = folder / "job.py"
    program.write_text(text)
    return str(program)


TORCH = """
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def work(rank):
    dist.init_process_group("gloo", init_method="file://STORE", rank=rank, world_size=4)
    dist.all_reduce(torch.ones(2))
    if rank == 2:
        dist.barrier()
    dist.all_reduce(torch.ones(4, 3))

if __name__ == "__main__":
    mp.spawn(work, nprocs=4)
"""


def test_real_torch_names_the_rank_in_another_collective_call(cli: Cli, tmp_path: Path) -> None:
    python = find_engine("torch")
    job = write_program(tmp_path, TORCH.replace("STORE", str(tmp_path / "store")))
    words = ("--json", "hang", "--group", "--", python, job)
    verdict = answer_data(cli(*words, check=0, timeout=110))["verdict"]
    assert verdict["rows"][0]["call"] == "barrier #2"
    assert verdict["rows"][0]["place"]["line"] == 10
    (others,) = [one for one in verdict["rows"] if one["call"] == "all_reduce #2"]
    assert (len(others["members"]), others["detail"]) == (3, "[4, 3] float32")


DASK = """
from dask.distributed import Client, LocalCluster

def square(number):
    return number * number

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            print(client.gather(client.map(square, range(8))))
"""


def test_real_dask_stops_in_its_workers(
    cli: Cli, wait_until: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = find_engine("distributed")
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))
    job = write_program(tmp_path, DASK)
    cli("start", "--group", "--python", python, job, "--break", f"{job}:5", "--timeout", "60")
    wait_until(
        lambda: {"0", "1"} <= {*members_of(cli)}, 60, what="the workers by their names in Dask"
    )
    assert read_again(cli, "print", "number")["rows"][0]["values"]
    end_group(cli, wait_until)


DASK_DIES = """
import ctypes
from dask.distributed import Client, LocalCluster

def read(number):
    return ctypes.string_at(0) if number == 5 else number

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            print(client.gather(client.map(read, range(8))))
"""


def test_a_worker_of_dask_that_dies_is_the_first_to_fail(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = find_engine("distributed")
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    job = write_program(tmp_path, DASK_DIES)
    crash = answer_data(cli("--json", "crash", "--group", "--", python, job, check=0, timeout=110))
    assert crash["member"] != "main"
    assert crash["how"] == "ended by SIGSEGV"
    assert (crash["crash"]["frame"]["function"], crash["crash"]["frame"]["line"]) == ("read", 6)


RAY = """
import time
import ray

@ray.remote
def square(number):
    for _ in range(600):
        time.sleep(0.1)
    return number * number

ray.init(num_cpus=2, include_dashboard=False)
print("ready", flush=True)
print(ray.get([square.remote(number) for number in range(2)]))
"""


def test_real_ray_is_attached_to_with_its_workers(
    cli: Cli, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    python = find_engine("ray")
    job = write_program(tmp_path, RAY)
    with subprocess.Popen([python, job], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

            def tree() -> str:
                cli("attach", "--group", "--tree", str(process.pid), check=0)
                shown = str(cli("backtrace", check=0).out)
                cli("detach", check=0)
                return shown

            wait_until(lambda: "square job.py:8" in tree(), 60, what="the task in a worker")
        finally:
            process.terminate()
            process.wait(30)


RAY_FAILS = """
import ray

@ray.remote
class Worker:
    def step(self, value):
        return {}["missing"] if value == 2 else value

if __name__ == "__main__":
    ray.init(num_cpus=1, include_dashboard=False)
    worker = Worker.remote()
    for value in range(4):
        print(ray.get(worker.step.remote(value)), flush=True)
"""


def test_real_ray_has_its_workers_as_members_and_names_the_one_that_fails(
    cli: Cli, tmp_path: Path
) -> None:
    python = find_engine("ray")
    job = write_program(tmp_path, RAY_FAILS)
    start = ("--json", "start", "--group", "--python", python, job, "--break", f"{job}:7")
    stop = answer_data(cli(*start, "--timeout", "60", check=0, timeout=110))
    assert (stop["member"][:3], stop["stop"]["frame"]["function"]) == ("pid", "step")
    cli("stop", check=0)
    crash = answer_data(cli("--json", "crash", "--group", "--", python, job, check=0, timeout=110))
    assert crash["member"].startswith("pid")
    assert (crash["crash"]["exception"]["type"], crash["crash"]["frame"]["line"]) == ("KeyError", 7)


CELERY = """
from celery import Celery

app = Celery("job", broker="memory://")

@app.task
def add(one, other):
    return one + other
"""


def test_real_celery_has_its_pool_as_members(
    cli: Cli, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    python = find_engine("celery")
    write_program(tmp_path, CELERY)
    words = ("-m", "celery", "--", "--workdir", str(tmp_path), "-A", "job", "worker", "-c", "2")
    cli("start", "--group", "--no-wait", "--python", python, *words, check=0)
    wait_until(lambda: list(members_of(cli)) == ["main", "1", "2"], 60, what="the pool")
    end_group(cli, wait_until)
