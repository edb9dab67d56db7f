"""What a thread waits for, by functions and system calls."""

from __future__ import annotations

import pytest

from debugger.model.thread_waits import SystemCall, kind_of, system_call


@pytest.mark.parametrize(
    ("functions", "kind"),
    [
        (["__lll_lock_wait", "pthread_mutex_lock"], "lock"),
        (["futex_wait", "std::sys::sync::mutex::futex::Mutex::lock"], "lock"),
        (["runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1"], "receive"),
        (["runtime.gopark", "runtime.semacquire1", "sync.(*Mutex).Lock"], "lock"),
        (["runtime.gopark", "sync.runtime_SemacquireRWMutexR", "sync.(*RWMutex).RLock"], "rwlock"),
        (["runtime.gopark", "sync.(*WaitGroup).Wait"], "group"),
        (["pthread_cond_wait", "std::condition_variable::wait"], "condition"),
        (["syscall", "std::thread::join_handle::JoinHandle::join"], "join"),
        (["System.Threading.Monitor.Enter"], "lock"),
        (["System.Threading.Thread.Join"], "join"),
        (["System.Threading.Tasks.Task.SpinThenBlockingWait"], "future"),
        (["compute"], ""),
    ],
)
def test_functions_tell_what_is_waited_for(functions: list[str], kind: str) -> None:
    assert kind_of(functions, None) == kind


@pytest.mark.parametrize(
    ("number", "name", "kind"),
    [
        (0, "read", "io"),
        (47, "recvmsg", "io"),
        (281, "epoll_pwait", "io"),
        (271, "ppoll", "io"),
        (61, "wait4", "child"),
        (230, "clock_nanosleep", "sleep"),
        (202, "futex", "futex"),
        (9999, "system call 9999", ""),
    ],
)
def test_a_system_call_is_read_and_told(number: int, name: str, kind: str) -> None:
    call = system_call(f"{number} 0x3 0x7ffc 0x40 0x0 0x0 0x0 0x7ffd 0x7f00\n", "x86_64")
    assert call is not None
    assert (call.name, call.arguments[:3]) == (name, (3, 0x7FFC, 0x40))
    assert kind_of([], call) == kind


def test_a_thread_that_runs_is_in_none() -> None:
    assert system_call("running\n", "x86_64") is None
    assert system_call("", "x86_64") is None


def test_waiting_for_a_thread_to_end_is_known_by_how_glibc_waits() -> None:
    assert SystemCall("futex", (0x7000, 0x109, 4712)).joined_thread == 4712
    assert SystemCall("futex", (0x7000, 0x80, 2)).joined_thread is None
    assert SystemCall("read", (3, 0x109, 4712)).joined_thread is None
