"""The threads of a JVM are read from its own dump: stacks, waits, owners, what computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.questions.hang.hang_verdict import ThreadWait, decide_verdict
from debugger.questions.hang.thread_dump import merge_dumps, parse_dump
from debugger.questions.hang.thread_sampling import (
    ProcessWatch,
    ThreadState,
    summarise_thread,
)
from debugger.session import source_files

HEAD = """26159:
2026-11-26 17:13:29
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"""
SYSTEM = """"Finalizer" #3 daemon prio=8 os_prio=0 tid=0x00007f nid=0x663c in Object.wait()  [0x0]
   java.lang.Thread.State: WAITING (on object monitor)
\tat java.lang.Object.wait(java.base@17.0.15/Native Method)
\t- waiting on <0x0000000000000001> (a java.lang.ref.ReferenceQueue$Lock)

"GC Thread#0" os_prio=0 cpu=3.74ms elapsed=2.45s tid=0x00007f nid=0x6635 runnable

"""
MAIN = """"main" #1 prio=5 os_prio=0 cpu=47.28ms tid=0x00007f nid=0x10 in Object.wait()  [0x0]
   java.lang.Thread.State: WAITING (on object monitor)
\tat java.lang.Object.wait(java.base@17.0.15/Native Method)
\t- waiting on <0x0000000000000aa0> (a java.lang.Thread)
\tat java.lang.Thread.join(java.base@17.0.15/Thread.java:1313)
\t- locked <0x0000000000000aa0> (a java.lang.Thread)
\tat shop.Store.main(Store.java:3)

   Locked ownable synchronizers:
\t- None

"""


def _locked(name: str, number: int, waits: str, holds: str) -> str:
    return f""""{name}" #{number} prio=5 tid=0x00007f nid=0x{number} waiting
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat shop.Store.move(Store.java:2)
\t- waiting to lock <{waits}> (a java.lang.Object)
\t- locked <{holds}> (a java.lang.Object)
\tat shop.Store$$Lambda$1/0x00007fbd24000c08.run(Unknown Source)

"""


def _watch(**states: str) -> ProcessWatch:
    threads = {
        int(key.removeprefix("n")): ThreadState(int(key.removeprefix("n")), "java", state, 0.0)
        for key, state in states.items()
    }
    return ProcessWatch(1, [threads, threads], 0.5)


def test_the_jvms_own_threads_are_left_out_and_a_lambdas_frame_has_its_class() -> None:
    threads = parse_dump(HEAD + SYSTEM + MAIN + _locked("biller", 12, "0xa", "0xb"))
    assert [(one.name, one.key) for one in threads] == [("main", "1"), ("biller", "12")]
    frame = threads[1].frames[1]
    assert (frame.class_name, frame.method, frame.line) == ("shop.Store$$Lambda$1", "run", None)


def test_object_wait_has_let_its_monitor_go() -> None:
    assert parse_dump(MAIN)[0].locks == set()


def test_a_deadlock_of_monitors_names_the_owners_and_what_is_awaited(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    lines = "class Store {\n  void move() { synchronized (stock) {\n  }}}\n"
    (tmp_path / "shop" / "Store.java").write_text(lines)
    text = MAIN + _locked("biller", 12, "0xa", "0xb") + _locked("packer", 13, "0xb", "0xa")
    # What HotSpot repeats behind a deadlock is not read as frames of the last thread.
    text += 'Found one Java-level deadlock:\n"biller":\n\tat shop.Store.move(Store.java:2)\n'
    sampled = merge_dumps([parse_dump(HEAD + text)], _watch(n16="S"), [str(tmp_path)])
    assert sampled[1].wait == ThreadWait("lock", "stock (Object)", ("13",))
    assert sampled[0].wait is not None
    assert sampled[0].wait.kind == "join"
    assert [len(one.last_stack) for one in sampled] == [3, 2, 2]
    verdict = decide_verdict([summarise_thread(one, source_files.read_source) for one in sampled])
    assert (verdict.kind, verdict.chain) == ("deadlock", ("12", "13"))


@pytest.mark.parametrize(
    ("class_name", "kind", "shown"),
    [
        ("java.util.concurrent.locks.ReentrantLock$NonfairSync", "lock", "ReentrantLock"),
        ("java.util.concurrent.CountDownLatch$Sync", "group", "CountDownLatch"),
        (
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
            "condition",
            "Condition",
        ),
    ],
)
def test_what_a_parked_thread_waits_with_has_its_owner(
    class_name: str, kind: str, shown: str
) -> None:
    text = f""""a" #12 prio=5 tid=0x7f nid=0x12 waiting on condition  [0x0]
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
\t- parking to wait for  <0xc> (a {class_name})

"b" #13 prio=5 tid=0x7f nid=0x13 waiting on condition  [0x0]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
\tat java.lang.Thread.sleep(java.base@17.0.15/Native Method)

   Locked ownable synchronizers:
\t- <0xc> (a {class_name})
"""
    first, second = merge_dumps([parse_dump(text)], _watch(), [])
    assert first.wait == ThreadWait(kind, shown, ("13",))
    assert second.wait == ThreadWait("sleep")


@pytest.mark.parametrize(
    "frame", ["java.io.FileInputStream.readBytes", "sun.nio.ch.UnixFileDispatcherImpl.read0"]
)
def test_a_thread_that_reads_a_file_or_a_pipe_waits_for_input(frame: str) -> None:
    text = f"""{'"main"'} #1 prio=5 tid=0x7f nid=0x10 runnable  [0x0]
   java.lang.Thread.State: RUNNABLE
\tat {frame}(java.base@17.0.15/Native Method)
"""
    (found,) = merge_dumps([parse_dump(text)], _watch(n16="S"), [])
    assert found.wait == ThreadWait("io", "waits for input or output")


def test_a_thread_that_computes_has_a_stack_for_each_dump() -> None:
    text = (
        '"worker" #12 [18] prio=5 tid=0x7f nid=18 runnable  [0x0]\n\tat Busy.spin(Busy.java:{})\n'
    )
    dumps = [parse_dump(text.format(line)) for line in (5, 6, 7)]
    (found,) = merge_dumps(dumps, _watch(n18="R"), [])
    assert (found.computes, found.wait) == (True, None)
    assert [stack[0].line for stack in found.stacks] == [5, 6, 7]
    assert found.last_stack[0].is_own
