"""Each kind of hang gets its name."""

from __future__ import annotations

from debugger.questions.hang.hang_verdict import (
    ChangedVariable,
    HangVerdict,
    Loop,
    ThreadActivity,
    ThreadWait,
    decide_verdict,
)


def _thread(key: str, wait: ThreadWait | None = None, **more: object) -> ThreadActivity:
    return ThreadActivity(key, f"thread {key}", wait=wait, **more)  # type: ignore[arg-type]


def _lock(text: str, *owners: str) -> ThreadWait:
    return ThreadWait("lock", text, owners)


def _judged(*activities: ThreadActivity, computes: bool = False) -> HangVerdict:
    return decide_verdict(activities, computes=computes)


def test_threads_that_wait_for_each_others_locks_are_a_deadlock() -> None:
    main = _thread("m", ThreadWait("join", "", ("a",)))
    verdict = _judged(main, _thread("a", _lock("x", "b")), _thread("b", _lock("y", "a")))
    assert verdict.kind == "deadlock"
    assert verdict.chain == ("a", "b")
    assert verdict.text == (
        "deadlock of 2 threads: thread a waits for x, held by thread b; "
        "thread b waits for y, held by thread a"
    )


def test_a_thread_that_waits_for_its_own_lock_is_a_deadlock() -> None:
    verdict = _judged(_thread("a", _lock("x", "a")))
    assert verdict.text == "deadlock: thread a waits for x, which it holds itself"


def test_a_semaphore_is_a_deadlock_only_if_nobody_else_could_give_a_permit() -> None:
    slots = ThreadWait("semaphore", "slots", ("a", "b"))
    holders = [_thread(key, ThreadWait("join", "", ("c",))) for key in "ab"]
    stuck = _judged(_thread("c", slots), *holders)
    assert stuck.kind == "deadlock"
    assert "waits for slots, held by thread a and thread b" in stuck.text
    assert _judged(_thread("c", slots), *holders, _thread("d", ThreadWait("sleep"))).kind != (
        "deadlock"
    )


def test_a_lock_whose_owner_sleeps_is_none() -> None:
    verdict = _judged(_thread("a", _lock("x", "b")), _thread("b", ThreadWait("sleep")))
    assert verdict.kind == "sleeping"
    assert verdict.about == "b"
    assert verdict.text == "thread a waits for x, held by thread b; thread b sleeps"


def test_who_is_waited_for_is_followed_to_what_it_waits_for() -> None:
    read = ThreadWait("io", "reads from fd 3: a pipe")
    verdict = _judged(_thread("m", ThreadWait("join", "", ("a",))), _thread("a", read))
    assert (verdict.kind, verdict.about) == ("io", "a")
    assert verdict.text.endswith("thread a reads from fd 3: a pipe")


def test_channels_that_only_those_that_wait_could_end_are_a_deadlock() -> None:
    main = _thread("m", ThreadWait("send", "jobs", ("a", "b")))
    workers = [_thread(key, ThreadWait("send", "results", ("m",))) for key in "ab"]
    verdict = _judged(main, *workers, _thread("t", ThreadWait("sleep")))
    assert verdict.kind == "deadlock"
    assert verdict.text.startswith("deadlock: thread m sends to jobs, which thread a or thread b")


def test_a_channel_that_one_who_runs_could_end_is_none() -> None:
    main = _thread("m", ThreadWait("send", "jobs", ("a", "b")))
    verdict = _judged(main, _thread("a", ThreadWait("send", "results", ("m",))), _thread("b"))
    assert verdict.kind != "deadlock"


def test_a_task_that_awaits_what_nobody_sets_is_told_behind_the_loop() -> None:
    main = _thread("m", ThreadWait("loop", "", ("t",)))
    task = ThreadActivity("t", "fetch", "task", wait=ThreadWait("task", "", ("u",)))
    inner = ThreadActivity("u", "reply", "task", wait=ThreadWait("future", "a future"))
    verdict = _judged(main, task, inner)
    assert verdict.kind == "waiting"
    assert verdict.text == "fetch awaits reply; reply awaits a future"


def _loop(*, is_moving: bool = False, names: tuple[str, ...] = ("low",)) -> Loop:
    changed = (ChangedVariable("low", "1", "9"),) if is_moving else ()
    same = () if is_moving else (("low", "2"),)
    return Loop(6, "while (low < 9) {", (6, 7), names, changed, same, is_moving)


def test_a_loop_whose_condition_never_changes_is_busy() -> None:
    verdict = _judged(_thread("m", computes=True, loop=_loop()), computes=True)
    assert (verdict.kind, verdict.text) == (
        "busy",
        "busy loop: `while (low < 9)` never changes low=2",
    )


def test_a_loop_without_a_condition_is_busy() -> None:
    verdict = _judged(_thread("m", computes=True, loop=_loop(names=())), computes=True)
    assert verdict.text.endswith("has no condition")


def test_a_loop_that_goes_on_is_slow_but_moving() -> None:
    verdict = _judged(_thread("m", computes=True, loop=_loop(is_moving=True)), computes=True)
    assert (verdict.kind, verdict.text) == (
        "moving",
        "slow but moving: low 1 → 9 in `while (low < 9)`",
    )


def test_goroutines_share_the_processes_own_use_of_the_processor() -> None:
    waits = _thread("m", ThreadWait("receive"))
    runs = ThreadActivity("g", "goroutine 7", "goroutine", loop=_loop())
    assert _judged(waits, runs, computes=True).about == "g"
    assert _judged(waits, runs).kind == "waiting"


def test_children_sleep_and_nothing_at_all_have_their_words() -> None:
    assert _judged(_thread("m", ThreadWait("child", "its child 7 (make)"))).kind == "child"
    assert _judged(_thread("m", ThreadWait("sleep"))).text == "thread m sleeps"
    assert _judged().kind == "unknown"


def test_where_the_main_thread_is_in_a_library_the_longest_chain_of_the_programs_own_is_told() -> (
    None
):
    main = _thread("m", ThreadWait("condition", "Pool"), is_own=False)
    others = (_thread("s", ThreadWait("sleep")), _thread("w", _lock("stock", "s")))
    idle = _thread("i", _lock("pool", "m"), is_own=False)
    verdict = _judged(main, idle, *others)
    assert verdict.chain == ("w", "s")
    assert _judged(main, idle).about == "m"
