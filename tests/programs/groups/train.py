"""A rank of a training; in the fourth step one of them takes another branch."""

import sys

import torch
import torch.distributed as dist


def save_checkpoint():
    dist.barrier()  # @odd


def take_step(rank, number):
    grad = torch.ones(4, 3)
    loss = float("nan") if (rank, number) == (1, 2) else 1.0 / (number + 1)
    if (rank, number) == (2, 3) and "odd" in sys.argv:
        save_checkpoint()
    dist.all_reduce(grad)  # @meet
    return loss


dist.init_process_group("gloo")
for number in range(4):
    take_step(dist.get_rank(), number)
