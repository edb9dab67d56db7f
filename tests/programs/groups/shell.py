"""Starts Python by a shell, as a script does; the child ends with its own status."""

import os
import subprocess
import sys

if len(sys.argv) > 1:
    words = sys.argv[1:]
    is_followed = "sitecustomize" in " ".join(sys.path)
    print(words, os.environ.get("PYTHONPATH"), is_followed, flush=True)  # @child
    sys.exit(3)
os.environ["CHILD"] = f"{sys.executable} {__file__}"
subprocess.run(["sh", "-c", '$CHILD a "b c"; echo status $?'], check=True)
