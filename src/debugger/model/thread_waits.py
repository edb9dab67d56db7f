"""Explains a thread's wait by its innermost functions and its system call. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

# The first that fits counts. What a function's name says is nearer to the source than the call.
_BY_FUNCTION: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "condition",
            r"pthread_cond_|condition_variable|[Cc]ondvar\b.*wait|sync\.\(\*Cond\)\.Wait",
        ),
        ("rwlock", r"pthread_rwlock_|sync\.\(\*RWMutex\)|RwLock|rwlock::"),
        ("receive", r"runtime\.chanrecv|mpsc.*::recv|crossbeam_channel.*recv"),
        ("send", r"runtime\.chansend|mpsc.*::send\b|crossbeam_channel.*send"),
        ("select", r"runtime\.selectgo|runtime\.block$"),
        ("group", r"sync\.\(\*WaitGroup\)\.Wait|pthread_barrier_wait|sync::barrier"),
        ("lock", r"pthread_mutex_(?:timed)?lock|sync\.\(\*Mutex\)\.Lock|mutex.*::lock|RawMutex"),
        ("semaphore", r"\bsem_(?:timed)?wait|counting_semaphore|\.SemaphoreSlim\.Wait"),
        ("join", r"pthread_(?:clock|timed)?join|[Tt]hread>?::join|JoinInner|std::thread::join"),
        ("lock", r"\.Monitor\.(?:Reliable|Try)?Enter"),  # .NET's, as the next ones
        ("condition", r"\.Monitor\.(?:Obj)?Wait"),
        ("join", r"\.Threading\.Thread\.Join"),
        ("future", r"\.Tasks\.Task\.(?:SpinThenBlockingWait|InternalWait)"),
        ("event", r"\.ManualResetEventSlim\.Wait|\.WaitHandle\.Wait"),
        ("child", r"os/exec\.\(\*Cmd\)\.Wait|os\.\(\*Process\)\.Wait|waitpid|\bwait4\b"),
        ("sleep", r"^time\.Sleep$|thread::sleep|\bnanosleep|\busleep\b|sleep_for"),
        ("io", r"internal/poll\.|runtime\.netpollblock"),
        ("signal", r"os/signal\.|\bsigwait"),
    )
)
_BY_CALL: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("io", r"p?(?:read|write)(?:v|64)?|recv(?:from|msg)|send(?:to|msg|file)|accept4?"),
        ("io", r"connect|p?poll|p?select6?|epoll_p?wait2?|splice|fsync"),
        ("sleep", r"(?:clock_)?nanosleep"),
        ("child", r"wait4|waitid"),
        ("file lock", r"flock|fcntl"),
        ("signal", r"pause|rt_sig(?:timedwait|suspend)"),
        ("futex", r"futex"),
    )
)
_X86 = (
    "0 read 1 write 7 poll 17 pread64 18 pwrite64 19 readv 20 writev 23 select 34 pause"
    " 35 nanosleep 40 sendfile 42 connect 43 accept 44 sendto 45 recvfrom 46 sendmsg 47 recvmsg"
    " 61 wait4 72 fcntl 73 flock 74 fsync 128 rt_sigtimedwait 130 rt_sigsuspend 202 futex"
    " 230 clock_nanosleep 232 epoll_wait 247 waitid 270 pselect6 271 ppoll 275 splice"
    " 281 epoll_pwait 288 accept4 441 epoll_pwait2"
)
_ARM = (
    "25 fcntl 32 flock 22 epoll_pwait 441 epoll_pwait2 63 read 64 write 65 readv 66 writev"
    " 67 pread64 68 pwrite64 71 sendfile 72 pselect6 73 ppoll 76 splice 82 fsync 95 waitid"
    " 98 futex 101 nanosleep 115 clock_nanosleep 133 rt_sigsuspend 137 rt_sigtimedwait"
    " 202 accept 203 connect 206 sendto 207 recvfrom 211 sendmsg 212 recvmsg 242 accept4 260 wait4"
)
_CLOCK_REALTIME = 0x100
_COMMAND = 0x7F
_WAIT_BITSET = 9


def _system_call_numbers(text: str) -> dict[int, str]:
    words = text.split()
    return {int(number): name for number, name in zip(words[::2], words[1::2], strict=True)}


_CALLS: Mapping[str, Mapping[int, str]] = {
    "x86_64": _system_call_numbers(_X86),
    "aarch64": _system_call_numbers(_ARM),
}


class SystemCall(Struct, frozen=True):
    """A thread's current system call, with its arguments."""

    name: str
    arguments: tuple[int, ...] = ()

    @property
    def joined_thread(self) -> int | None:
        """The awaited thread of a call that looks like glibc's `pthread_join`.

        glibc waits with a bitset and the real-time clock for the thread's number to become 0.
        """
        if self.name != "futex" or len(self.arguments) < 3:  # noqa: PLR2004 - address, what, value
            return None
        _, what, value, *_ = self.arguments
        is_so = what & _COMMAND == _WAIT_BITSET and what & _CLOCK_REALTIME
        return value if is_so else None


def system_call(text: str, machine: str) -> SystemCall | None:
    """Parse /proc/PID/task/TID/syscall, proc_pid_syscall(5); None for a running thread."""
    words = text.split()
    if not words or not words[0].isdecimal():
        return None
    number = int(words[0])
    name = _CALLS.get(machine, {}).get(number, f"system call {number}")
    return SystemCall(name, tuple(int(word, 16) for word in words[1:7]))


def kind_of(functions: Iterable[str], call: SystemCall | None) -> str:
    """Return the kind of a wait; "" if unknown, or for a running thread.

    `functions` are those below the user's own frame, innermost first.
    """
    names = list(functions)
    for kind, pattern in _BY_FUNCTION:
        if any(pattern.search(name) for name in names):
            return kind
    kinds = (kind for kind, pattern in _BY_CALL if call and pattern.fullmatch(call.name))
    return next(kinds, "")
