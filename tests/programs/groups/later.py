"""Starts processes by fork, by spawn and by subprocess, once it has read a line."""

import multiprocessing
import subprocess
import sys
import time


def wait():
    while True:
        time.sleep(0.1)  # @wait


def start_processes():
    for method in ("fork", "spawn"):
        multiprocessing.get_context(method).Process(target=wait).start()
    subprocess.Popen([sys.executable, __file__, "child"])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        wait()
    print("ready", flush=True)
    sys.stdin.readline()
    start_processes()
    time.sleep(60)
