"""Sends a function of the main program to a worker, as Dask and joblib do, by cloudpickle."""

import subprocess
import sys

from cloudpickle import cloudpickle

READ = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(4))"


def square(number):
    result = number * number
    return result  # @result


if __name__ == "__main__":
    sent = cloudpickle.dumps(square)
    subprocess.run([sys.executable, "-c", READ], input=sent, check=True)
