"""A rank of a job: rank.py [fail|exit]."""

import os
import sys

rank = int(os.environ["OMPI_COMM_WORLD_RANK"])


def take_step(step):
    return rank * step  # @step


total = sum(map(take_step, range(3)))
sys.stdout.write(f"rank {rank} total {total}\n")
sys.stdout.flush()
if rank == 1 and "fail" in sys.argv:
    raise ValueError("no luck")  # @raise
if rank == 1 and "exit" in sys.argv:
    sys.exit(5)
