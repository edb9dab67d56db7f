"""A rank that takes the same steps as the others, except for one."""

import os


def take_step(rank, step):
    if rank == 2 and step == 2:
        value = -1
    else:
        value = step * 10
    return value  # @step


for step in range(4):
    take_step(int(os.environ["OMPI_COMM_WORLD_RANK"]), step)
