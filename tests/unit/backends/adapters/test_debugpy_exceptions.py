"""What is kept of the causes that debugpy reports for an exception."""

from __future__ import annotations

from debugger.backends.adapters.debugpy.debugpy_abilities import from_trace, remote_cause
from debugger.model.program import ExceptionDetails
from debugger.model.text_filters import fold_libraries

_REMOTE = '''concurrent.futures.process._RemoteTraceback: \n"""
Traceback (most recent call last):
  File "/usr/lib/python3.11/concurrent/futures/process.py", line 256, in _process_worker
    r = call_item.fn(*call_item.args, **call_item.kwargs)
  File "/work/pool.py", line 11, in work
    return score(*pair)
  File "/work/pool.py", line 7, in score
    return a / b
ZeroDivisionError: division by zero
"""'''
_CHAIN = """Traceback (most recent call last):
  File "/x/site-packages/debugpy/_vendored/pydevd/pydevd_file_utils.py", line 351, in normcase
    return NORMCASE_CACHE[s]
KeyError: 'rec.py'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/work/rec.py", line 3, in read
    raise OSError("no file")
OSError: no file

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/work/rec.py", line 6, in depth
    return depth()
RecursionError: maximum recursion depth exceeded"""


def test_a_workers_traceback_is_told_by_its_own_frames() -> None:
    assert remote_cause(_REMOTE, "/work") == (
        "in a worker: ZeroDivisionError: division by zero, in score pool.py:7 < work pool.py:11"
    )
    assert remote_cause("ValueError: Traceback (most recent call last):", "/work") is None


def test_what_pydevd_itself_raised_is_no_cause() -> None:
    found = from_trace(ExceptionDetails("RecursionError", "too deep", trace=_CHAIN))
    assert found.causes == ("OSError: no file",)


def test_a_recursion_that_meets_its_limit_in_pydevd_is_the_programs_own() -> None:
    deep = """Traceback (most recent call last):
  File "/work/rec.py", line 6, in depth
    return depth()
  File "/x/site-packages/debugpy/_vendored/pydevd/pydevd.py", line 1394, in _exclude_by_filter
    return self._cache[key]
RecursionError: maximum recursion depth exceeded

The above exception was the direct cause of the following exception:

  File "/work/rec.py", line 10, in main
    raise ValueError("bad") from error
ValueError: bad"""
    found = from_trace(ExceptionDetails("ValueError", "bad", trace=deep))
    assert found.causes == ("RecursionError: maximum recursion depth exceeded",)


def test_pydevds_words_for_a_missing_message_are_left_out() -> None:
    found = from_trace(ExceptionDetails("MemoryError", "exception: no description"))
    assert found.message == ""


_REVERSED = """Traceback (most recent call last):
  File "/work/a.py", line 4, in inner
    {}["a"]
KeyError: 'a'

The above exception was the direct cause of the following exception:

  File "/work/a.py", line 9, in hook
    raise ValueError("bad") from e
  File "/usr/lib/python3.11/json/decoder.py", line 353, in raw_decode
    obj, end = self.scan_once(s, idx)
  File "/usr/lib/python3.11/json/__init__.py", line 359, in loads
    return cls(**kw).decode(s)
  File "/work/a.py", line 11, in mid
    return json.loads(text, object_hook=hook)
ValueError: bad"""


def test_a_trace_is_in_pythons_order_and_its_library_frames_can_be_folded() -> None:
    trace = from_trace(ExceptionDetails("ValueError", "bad", trace=_REVERSED)).trace
    assert fold_libraries(trace.splitlines(), "/work")[7:] == [
        '  File "/work/a.py", line 11, in mid',
        "    return json.loads(text, object_hook=hook)",
        "  … 2 frames of json",
        '  File "/work/a.py", line 9, in hook',
        '    raise ValueError("bad") from e',
        "ValueError: bad",
    ]


def test_an_exception_of_pydevds_is_in_no_trace_and_one_never_raised_stays() -> None:
    trace = (
        "KeyError: 'pydevd.py'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "ValueError: never raised\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        '  File "/work/rec.py", line 6, in depth\n    return depth()\n'
        "RecursionError: maximum recursion depth exceeded"
    )
    found = from_trace(ExceptionDetails("RecursionError", "too deep", trace=trace))
    assert found.causes == ("ValueError: never raised",)
    assert found.trace.startswith("ValueError: never raised\n\nThe above exception was the direct")
    assert from_trace(ExceptionDetails("RecursionError", "", trace=_CHAIN)).trace.startswith(
        'Traceback (most recent call last):\n  File "/work/rec.py", line 3, in read'
    )
