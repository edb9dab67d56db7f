"""Prints the threads of a forked process, by the modules of the snapshot, and its pid."""

import importlib.util
import os
import sys
import threading

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
