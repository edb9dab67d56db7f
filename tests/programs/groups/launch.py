"""Starts a training's ranks as torchrun does: with a copy of the environment, and waits for them."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COUNT = 4

with tempfile.TemporaryDirectory() as folder:
    env = os.environ.copy()
    env["PYTHONPATH"] = str(HERE / "site-packages")
    env |= {"WORLD_SIZE": str(COUNT), "MEETING_FOLDER": folder}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-u", str(HERE / "train.py"), *sys.argv[1:]],
            env={**env, "RANK": str(rank)},
        )
        for rank in range(COUNT)
    ]
    for one in ranks:
        one.wait()
