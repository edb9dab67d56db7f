"""Whom a call of MPI is for, by its line in the source and the values in its frame."""

from __future__ import annotations

import pytest

from debugger.questions.group.mpi_calls import MpiCall, find_arguments, read_call, split_arguments

WORLD = "0x7f00000010"
VALUES = {
    "other": "1",
    "ranks[next]": "3",
    "half": "(MPI_Comm) 0x55550000",
    "all": f"(MPI_Comm) {WORLD}",
    "split": "-2080374784",
    "whole": "1140850688",
    "&ompi_mpi_comm_world": WORLD,
}


async def evaluate(expression: str) -> str | None:
    return VALUES.get(expression)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a, b[i, j], (c, d)); more()", ["a", "b[i, j]", "(c, d)"]),
        (")", [""]),
        ("a, b", []),
        ("f(','), b)", []),
    ],
)
def test_arguments_are_split_at_their_own_commas(text: str, words: list[str]) -> None:
    assert split_arguments(text) == words


@pytest.mark.parametrize(
    ("text", "function", "found"),
    [
        (
            "if (rank) MPI_Send(&v, 1, MPI_INT, other, 7, MPI_COMM_WORLD);",
            "PMPI_Send",
            MpiCall("to 1, tag 7", 1),
        ),
        (
            "MPI_Recv(v, f(1, 2), MPI_INT, ranks[next], MPI_ANY_TAG, all, &status);",
            "PMPI_Recv",
            MpiCall("from 3, tag any", 3),
        ),
        (
            "MPI_Recv(v, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            "PMPI_Recv",
            MpiCall("from any rank, tag 4"),
        ),
        # A rank of another communicator has another number there.
        ("MPI_Ssend(v, 1, t, 2, 0, half);", "PMPI_Ssend", MpiCall("to 2, tag 0", None, "half")),
        ("MPI_Barrier(half);", "PMPI_Barrier", MpiCall(communicator="half")),
        ("MPI_Barrier(all);", "MPI_Barrier", MpiCall()),
        ("MPI_Barrier(split);", "MPI_Barrier", MpiCall(communicator="split")),
        ("MPI_Barrier(whole);", "MPI_Barrier", MpiCall()),
        ("MPI_Bcast(v, 1, MPI_INT, 3, unknown);", "PMPI_Bcast", MpiCall("root 3")),
        (
            "MPI_Sendrecv(a, 1, t, other, 1, b, 1, t, 3, 2, MPI_COMM_WORLD, s);",
            "PMPI_Sendrecv",
            MpiCall("to 1, tag 1, from 3, tag of what comes 2", 3),
        ),
        ("MPI_Wait(&r, MPI_STATUS_IGNORE);", "PMPI_Wait", MpiCall()),
        ("MPI_Recv(v, 1, t, pick_next(), ++tag, all, s);", "PMPI_Recv", MpiCall()),
        ("exchange(v);", "PMPI_Recv", MpiCall()),
    ],
)
async def test_the_partner_the_tag_and_the_communicator_are_read(
    text: str, function: str, found: MpiCall
) -> None:
    assert await read_call(text, function, evaluate) == found


def test_of_two_calls_in_a_statement_it_is_not_known_which_one_waits() -> None:
    text = "MPI_Recv(a, 1, t, 0, 1, w, s); MPI_Recv(a, 1, t, 2, 1, w, s);"
    assert find_arguments(text, "PMPI_Recv") == {}


async def test_nothing_that_calls_or_changes_the_program_is_evaluated() -> None:
    asked = []

    async def record(expression: str) -> None:
        asked.append(expression)

    await read_call("MPI_Send(v, 1, t, next(rank), tag++, rank = 2);", "PMPI_Send", record)
    await read_call("MPI_Send(v, 1, t, a == b, c >= d, e);", "PMPI_Send", record)
    assert sorted(asked) == ["a == b", "c >= d", "e"]
