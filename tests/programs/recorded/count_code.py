"""Runs programs of which every function counts its calls itself, and as they are (3.12, 3.13).

    python count_code.py FOLDER < LIST

The folder has the recorder's parts; the list has JSON: the programs' texts. It prints, as JSON, for
each program what it printed and how often its functions were called, once each way.
"""

import contextlib
import importlib.util
import io
import json
import sys
import traceback
from collections import Counter
from pathlib import Path

FILE = "random.py"
NO_CALLS = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def load_part(name):
    spec = importlib.util.spec_from_file_location(name, Path(sys.argv[1]) / f"{name}.py")
    part = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(part)
    return part


counted_code, bytecode = load_part("counted_code"), load_part("bytecode")


def count_calls(code, counters):
    """Return code in which each function counts its calls; class bodies and the module do not."""
    made = code.replace(
        co_consts=tuple(
            count_calls(one, counters) if hasattr(one, "co_code") else one for one in code.co_consts
        )
    )
    if not code.co_flags & 1 or code.co_name in NO_CALLS:
        return made
    counter = counted_code.make_counter()
    counted = counted_code.add_counter(made, counter, bytecode)
    counters.append((f"{code.co_qualname}:{code.co_firstlineno}", counter))
    places = {place for place in code.co_positions() if place[0]}
    assert counted is not None and places == {
        place for place in counted.co_positions() if place[0]
    }
    return counted


def run(code):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(code, {"__name__": "random"})
        except BaseException:  # whatever a program ends with
            printed.write(traceback.format_exc().partition(FILE)[2])
    return printed.getvalue()


def run_monitored(code):
    """Run code, and count the starts of its functions."""
    monitoring, found = sys.monitoring, Counter()

    def on_start(code, _offset):
        if code.co_filename == FILE and code.co_flags & 1 and code.co_name not in NO_CALLS:
            found[f"{code.co_qualname}:{code.co_firstlineno}"] += 1

    monitoring.use_tool_id(4, "count_code")
    monitoring.register_callback(4, monitoring.events.PY_START, on_start)
    monitoring.set_events(4, monitoring.events.PY_START)
    try:
        return run(code), found
    finally:
        monitoring.set_events(4, 0)
        monitoring.free_tool_id(4)


def compare(text):
    code = compile(text, FILE, "exec")
    printed, found = run_monitored(code)
    counters = []
    counted = run(count_calls(code, counters))
    taken = Counter()
    for name, counter in counters:
        taken[name] += counted_code.read_counter(counter)
    return [[printed, found], [counted, +taken]]


print(json.dumps([compare(text) for text in json.load(sys.stdin)]))
