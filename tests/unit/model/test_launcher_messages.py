"""What a launcher writes of its failure is found among the lines of its output."""

from __future__ import annotations

import pytest

from debugger.model.launcher_messages import LauncherMessages

DASHES = "-" * 74
FAILED = [
    DASHES,
    "Primary job  terminated normally, but 1 process returned",
    "a non-zero exit code. Per user-direction, the job has been aborted.",
    DASHES,
    DASHES,
    "mpirun detected that one or more processes exited with non-zero status, thus causing",
    "the job to be terminated. The first process to do so was:",
    "",
    "  Process name: [[28230,1],0]",
    DASHES,
]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            ["0| out", DASHES, "There are not enough slots", "that were requested:", "", "  ./app"],
            "There are not enough slots that were requested",
        ),
        ([DASHES, "one", DASHES, DASHES, "two", DASHES], "one"),
        ([DASHES, "WARNING: no device", DASHES, DASHES, "two", DASHES], "two"),
        ([DASHES, "x" * 400], "x" * 299 + "…"),
        (["---- a short line", "text"], ""),
        ([DASHES], ""),
        ([], ""),
        (FAILED, ""),
        (
            [*FAILED, DASHES, "MPI_ABORT was invoked on rank 2", DASHES],
            "MPI_ABORT was invoked on rank 2",
        ),
        (
            [
                "srun: error: node1: task 2: Exited with exit code 1",
                "srun: error: no such partition",
            ],
            "no such partition",
        ),
        (
            ["[mpiexec@vm] match_arg (lib/args.c:166): unrecognized argument x"],
            "match_arg (lib/args.c:166): unrecognized argument x",
        ),
    ],
)
def test_the_first_message_that_is_a_reason_is_chosen(lines: list[str], reason: str) -> None:
    messages = LauncherMessages()
    for line in lines:
        messages.add_line(f"{line}\n")
    assert messages.reason == reason


def test_without_one_the_first_rank_that_could_not_start_is_the_reason() -> None:
    messages = LauncherMessages()
    messages.add_line("error: no such command: ./train", "3")
    for line in FAILED:
        messages.add_line(line)
    messages.add_line("error: another", "1")
    assert messages.reason == "no such command: ./train (rank 3)"
    messages.add_line("")
    messages.add_line("srun: error: no such partition")
    assert messages.reason == "no such partition"


def test_a_host_that_is_not_reached_is_named_and_not_what_may_be_the_cause() -> None:
    messages = LauncherMessages()
    messages.add_line("error: node9: the connection was refused")
    messages.add_line("hint: ssh node9 must work")
    for line in (DASHES, "ORTE was unable to reliably start one or more daemons.", "", DASHES):
        messages.add_line(line)
    assert messages.reason == "node9: the connection was refused; ssh node9 must work"
