"""Two ranks a host, each with its values: host_ranks.py [fail|turn]; rank 2 raises, or turns."""

import os
import subprocess
import sys


def take_step(rank, number):
    loss = float("nan") if (rank, number) == (2, 2) else 1.0 / (number + 1)
    if "fail" in sys.argv and rank == 2 and number == 2:
        raise ValueError("no luck")  # @raise
    if "turn" in sys.argv and rank == 2 and number == 2:  # @turn
        loss = 0.0
    return loss  # @step


if "RANK" in os.environ:
    for number in range(4):
        take_step(int(os.environ["RANK"]), number)
else:
    first = 2 * int(os.environ["DEBUGGER_HOST_INDEX"])
    command = [sys.executable, *sys.argv]
    ranks = [
        subprocess.Popen(command, env={**os.environ, "RANK": str(first + number)})
        for number in range(2)
    ]
    sys.exit(max(one.wait() for one in ranks))
