"""A process that was forked knows the kernel's number of its thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from debugger.questions.hang.inside import locks, snapshot, tasks

FORKED = """
import importlib.util, json, os, sys, threading

def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

locks, tasks, snapshot = map(load, sys.argv[1:])
done = threading.Event()
if os.fork() == 0:
    def look():
        print(snapshot.snapshot(locks, tasks), os.getpid(), flush=True)
        os._exit(0)
    thread = threading.Thread(target=look)
    thread.start()
    done.wait()
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_the_main_thread_of_a_forked_process_has_the_processs_number():
    files = [str(one.__file__) for one in (locks, tasks, snapshot)]
    command = [sys.executable, "-c", FORKED, *files]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text, _, pid = found.strip().rpartition(" ")
    (main,) = [one for one in json.loads(text)["threads"] if one["is_main"]]
    assert main["native"] == int(pid) != os.getpid()
