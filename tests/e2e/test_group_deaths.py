"""Nothing of a group is left, whatever dies first, at whatever stage of its life, here or there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli_commands import Cli
from group_jobs import STAGES, Job
from ssh_hosts import SshHosts, require_hosts, write_debugger_config

HERE = ["member", "launcher", "client", "supervisor", "daemon"]  # the daemon's death last
THERE = ["ssh", "host daemon", "daemon"]
pytestmark = pytest.mark.adapter("debugpy")


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    found = require_hosts(2)
    yield found
    found.close()


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_is_left_whatever_dies_first(
    cli: Cli, runtime_dir: Path, wait_until: Callable[..., None], stage: str
) -> None:
    job = Job(cli, runtime_dir, wait_until)
    cli("config", check=0)
    for victim in HERE:
        job.begin(stage)
        job.kill(victim)
        job.end(victim, stage)


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_is_left_on_a_host_whatever_dies_first(
    cli: Cli, runtime_dir: Path, hosts: SshHosts, wait_until: Callable[..., None], stage: str
) -> None:
    write_debugger_config(runtime_dir, hosts, keep_s=1)
    # The part of one host may have ended before that of another.
    chosen = hosts.hosts if stage in {"ending", "starting"} else hosts.hosts[:1]
    job = Job(cli, runtime_dir, wait_until, chosen)
    cli("daemon", "status", "--host", ",".join(one.name for one in chosen), check=0)
    for victim in [*(["client"] if stage == "starting" else []), *THERE]:
        job.begin(stage)
        job.kill(victim)
        job.end(victim, stage)
