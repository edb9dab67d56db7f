"""The code of a program that has no file, as that of `python -c`, is in a snapshot."""

from __future__ import annotations

import json
import threading

from debugger.questions.hang.inside import locks, snapshot, tasks

CODE = """
def work(begun, ended):
    begun.set()
    ended.wait()
"""


def test_code_without_a_file_is_in_a_snapshot():
    names: dict[str, object] = {}
    exec(compile(CODE, "<string>", "exec"), names)
    begun, ended = threading.Event(), threading.Event()
    worker = threading.Thread(target=names["work"], args=(begun, ended), name="own")
    worker.start()
    try:
        begun.wait()
        found = json.loads(snapshot.snapshot(locks, tasks))
    finally:
        ended.set()
        worker.join()
    (own,) = [one for one in found["threads"] if one["name"] == "own"]
    assert ("work", "<string>") in [(one["function"], one["file"]) for one in own["frames"]]
