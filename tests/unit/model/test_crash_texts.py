"""Addresses, traces, tracebacks, panics and origins of files are classified."""

from __future__ import annotations

import pytest

from debugger.model.answers import OutputLine
from debugger.model.crash_reports import panic_message
from debugger.model.exception_cause import parse_traceback, parse_uncaught
from debugger.model.location import is_library
from debugger.model.signals import MemoryRegion, classify_address, parse_memory_map
from debugger.model.text_filters import without_traces
from debugger.questions.crash.sanitizer_report import parse_sanitizer_report

MAPS = [
    "555555554000-555555555000 r--p 00000000 08:01 12  /bin/prog",
    "555555555000-555555556000 rw-p 00000000 08:01 12  /bin/prog",
    "7fffff7ff000-7ffffffff000 rw-p 00000000 00:00 0   [stack]",
]


def test_a_memory_map_is_read() -> None:
    assert parse_memory_map([*MAPS, "nonsense"])[0] == MemoryRegion(
        0x555555554000, 0x555555555000, "r--p", "/bin/prog", 0
    )


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (0, "null"),
        (24, "near_null"),
        (0xDEAD00000000BEEF, "non_canonical"),
        (0x555555554010, "read_only"),
        (0x555555555010, "mapped"),
        (0x555555556010, "unmapped"),
        (0x7FFFFF7FEFF8, "stack_overflow"),
    ],
)
def test_an_address_is_classified(address: int, kind: str) -> None:
    assert classify_address(address, parse_memory_map(MAPS), stack=0x7FFFFF7FF010)[0] == kind


def test_beyond_the_stack_is_an_overflow_only_at_the_stacks_end() -> None:
    assert (
        classify_address(0x7FFFFF7FEFF8, parse_memory_map(MAPS), stack=0x7FFFFFFF0000)[0]
        == "unmapped"
    )


def lines(text: str) -> list[OutputLine]:
    return [OutputLine("stderr", line, at) for at, line in enumerate(text.splitlines())]


def test_stack_traces_are_left_out_and_counted() -> None:
    text = """before
Traceback (most recent call last):
  File "a.py", line 1, in f
    g()
ValueError: no
after
Error: x
    at f (/a.js:1:2)
==7==ERROR: AddressSanitizer: x
  anything
==7==ABORTING
last"""
    kept, count = without_traces(lines(text), ["ValueError: no"])
    assert [one.text for one in kept] == ["before", "after", "Error: x", "last"]
    assert count == 8


def test_the_traces_of_workers_are_left_out_though_their_lines_are_mixed() -> None:
    """Ray's output of a worker that a signal ended: its lines come between the driver's."""
    worker = "\x1b[36m(load pid=12824)\x1b[0m"
    text = f"""Traceback (most recent call last):
  File "/job/job.py", line 14, in <module>
    {worker} *** SIGSEGV received at time=1795872895 on cpu 1 ***
{worker} PC: @     0x7f7413d74219  (unknown)  (unknown)
{worker}     @     0x7f7413c5a050  (unknown)  (unknown)
{worker} [2026-11-28 13:34:55,675 E 1 1] logging.cc:474: PC: @     0x7f7413d74219  (unknown)
{worker} Fatal Python error: Segmentation fault
main()
{worker} loading part 2
{worker} Stack (most recent call first):
{worker}   File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
(load pid=12825) loading part 3
{worker}   File "/job/job.py", line 8 in load
{worker}   File "/venv/debugpy/_vendored/pydevd/pydevd_runpy.py", line 118 in _run_code
{worker}   File "/opt/debugger/backends/adapters/debugpy/server.py", line 401 in <module>
{worker}
{worker} Extension modules: msgpack._cmsgpack (total: 12)
[rank1]: Traceback (most recent call last):
[1,2]<stderr>:  File "/job/mpi.py", line 3 in step
[rank1]:   File "/job/train.py", line 3, in step
done"""
    kept, _ = without_traces(lines(text))
    assert [one.text.removeprefix(worker).strip() for one in kept] == [
        "loading part 2",
        "(load pid=12825) loading part 3",
        "done",
    ]


def test_what_python_writes_around_a_workers_traceback_is_left_out() -> None:
    text = """multiprocessing.pool.RemoteTraceback: \n\"\"\"
Traceback (most recent call last):
  File "pool.py", line 7, in score
    return a / b
ZeroDivisionError: no
\"\"\"
done"""
    kept, count = without_traces(lines(text), ["ZeroDivisionError: no"])
    assert ([one.text for one in kept], count) == (["done"], 7)


def test_what_node_writes_around_an_uncaught_error_is_left_out() -> None:
    text = """door opened
/tmp/door.mjs:23
    assert(jump < 1e-6);
    ^

AssertionError [ERR_ASSERTION]: 0, not 1.6
    at file:///tmp/door.mjs:23:2
    at node:internal/main:1:2 {
  generatedMessage: false,
  code: 'ERR_ASSERTION',
  operator: '=='
}

Node.js v20.20.2"""
    kept, count = without_traces(lines(text), ["AssertionError: 0, not 1.6"])
    assert [one.text for one in kept if one.text] == ["door opened"]
    assert count == 11


def test_the_report_of_a_race_is_read_in_colour_and_left_out() -> None:
    text = """==================
\x1b[1m\x1b[31mWARNING: ThreadSanitizer: data race (pid=7)
\x1b[1m\x1b[0m\x1b[34m  Read of size 8 at 0x555555558230 by thread T2:
\x1b[1m\x1b[0m    #0 count /src/hits.c:47 (hits+0x14da)

\x1b[1m\x1b[34m  Previous write of size 8 at 0x555555558230 by main thread:
\x1b[1m\x1b[0m    #0 reset(int, long) /src/hits.c:20 (hits+0x14ff)
    #1 main /src/hits.c:61 (hits+0x1625)

\x1b[32m  Location is global 'site.0' of size 376 at 0x5555555580c0 (hits+0x4230)

SUMMARY: ThreadSanitizer: data race /src/hits.c:47 in count
==================
10 hits
ThreadSanitizer: reported 1 warnings"""
    found = parse_sanitizer_report(text.splitlines())
    assert found is not None
    assert found.text == "data race (TSan), read by thread T2 after write by main thread"
    assert found.notes == (
        "the write before was in reset hits.c:20",
        "the memory is global 'site.0' of size 376",
    )
    kept, _ = without_traces(lines(text))
    assert [one.text for one in kept] == ["10 hits"]


def test_memory_was_freed_by_the_users_function_not_by_the_librarys() -> None:
    found = parse_sanitizer_report(
        """==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x6120 at pc 0x5
READ of size 4 at 0x6120 thread T0
freed by thread T0 here:
    #0 0x7f in operator delete(void*, unsigned long) ../libsanitizer/asan/asan_new_delete.cpp:164
    #1 0x55 in std::allocator<S>::deallocate(S*, unsigned long) /usr/include/c++/12/bits/a.h:158
    #2 0x55 in Roster::add(std::string const&, int) /src/roster.cpp:16

previously allocated by thread T0 here:
    #0 0x7f in malloc ../libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55 in g_new /usr/include/glib.h:9
""".splitlines()
    )
    assert found is not None
    assert found.notes == ("freed in Roster::add roster.cpp:16", "allocated in g_new glib.h:9")


def test_a_traceback_is_read_with_what_was_repeated() -> None:
    found = parse_traceback(
        """Traceback (most recent call last):
  File "/a.py", line 9, in <module>
    f()
  File "/a.py", line 2, in f
    f()
  [Previous line repeated 980 more times]
RecursionError: maximum recursion depth exceeded""".splitlines()
    )
    assert found is not None
    assert (found.type, found.depth, found.frames[0].line) == ("RecursionError", 982, 2)


def test_of_a_fatal_error_the_current_thread_is_told() -> None:
    found = parse_traceback(
        """Fatal Python error: Segmentation fault

Thread 0x01 (most recent call first):
  File "/lib/threading.py", line 3 in wait

Current thread 0x02 (most recent call first):
  File "/a.py", line 5 in go
  File "/a.py", line 9 in <module>
""".splitlines()
    )
    assert found is not None
    assert found.is_fatal
    assert [one.line for one in found.frames] == [5, 9]


@pytest.mark.parametrize("text", ["", "Traceback (most recent call last):", "x: y"])
def test_what_is_no_traceback_is_none(text: str) -> None:
    assert parse_traceback(text.splitlines()) is None


def test_the_last_panic_is_read_in_both_forms() -> None:
    new = ["thread 'main' (7) panicked at src/a.rs:3:5:", "no", "such", "note: run with"]
    assert panic_message(new) == ("src/a.rs:3:5", "no\nsuch")
    old = ["thread 'main' panicked at 'no such', src/a.rs:3:5"]
    assert panic_message(old) == ("src/a.rs:3:5", "no such")
    assert panic_message(["nothing"]) is None


def test_an_uncaught_exception_of_cpp_is_read() -> None:
    said = ["terminate called after throwing an instance of 'shop::Refused'", "  what():  no"]
    assert parse_uncaught(said) == ("shop::Refused", "no")
    assert parse_uncaught(["x"]) is None


def test_what_ubsan_says_is_told_from_its_words_or_its_handler() -> None:
    said = parse_sanitizer_report(["a.c:6:103: runtime error: division by zero"])
    assert said is not None
    assert said.text == "division by zero (UBSan)"
    handled = parse_sanitizer_report(
        [], ["__ubsan_on_report", "__ubsan::__ubsan_handle_out_of_bounds_abort"]
    )
    assert handled is not None
    assert handled.text == "index out of bounds (UBSan)"


@pytest.mark.parametrize(
    ("file", "is_one"),
    [
        ("/home/u/app/a.py", False),
        ("/home/u/app/node_modules/x/a.js", True),
        ("/home/u/app/venv/lib/python3.11/site-packages/x.py", True),
        ("/usr/include/c++/12/bits/stl_vector.h", True),
        ("/usr/local/go/src/runtime/panic.go", True),
        ("/rustc/598/library/core/src/panicking.rs", True),
        ("/opt/other/b.c", False),
        ("./nptl/./nptl/pthread_mutex_lock.c", True),
        ("./stock/store.c", False),
        ("<frozen importlib>", True),
        (None, True),
    ],
)
def test_a_library_is_told_from_the_users_own(file: str | None, is_one: bool) -> None:
    assert is_library(file, "/home/u/app") is is_one


def test_what_is_below_the_directory_is_the_users_wherever_that_is() -> None:
    assert not is_library("/usr/share/app/a.py", "/usr/share/app")


@pytest.mark.parametrize(
    ("text", "said", "left"),
    [
        (
            "thread 'main' (77) panicked at units.rs:45:51:\ncalled `Option::unwrap()` on a `None`",
            "called `Option::unwrap()` on a `None`",
            0,
        ),
        ("thread 'main' panicked at a.rs:1:2:\nanother", "no such", 2),
        (
            "terminate called after throwing an instance of 'std::out_of_range'\n  what():  no 3",
            "no 3",
            0,
        ),
        ("ring: ring.c:24: check: Assertion `a == b' failed.", "ring: ring.c:24: check", 1),
    ],
)
def test_the_words_of_a_report_are_left_out_only_where_they_are_told(
    text: str, said: str, left: int
) -> None:
    kept, count = without_traces(lines(text), [said])
    assert len(kept) == left
    assert count == len(text.splitlines()) - len(kept)
