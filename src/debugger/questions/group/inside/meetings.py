"""Reports in which call a member meets others, how far it has come, and its locks.

Runs in the debuggee. Only the standard library's and torch's own objects are asked; nothing is
imported that the program has not imported. Facts are of torch 1.13 to 2.15.
"""

from __future__ import annotations

import json
import sys
import threading
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

_FRAMES = 12  # of a thread, between a wait and the program's own line
_THREADS = 200
_RANKS = 1024  # of a process group
_LOCKS = 20
_SYNCHRONIZE = "multiprocessing.synchronize"
# The arguments of torch's collective calls that hold tensors, the most telling first.
_TENSORS = (
    *("tensor", "input_tensor", "input", "tensor_list", "input_tensor_list", "input_list"),
    *("output_tensor", "output", "output_tensor_list", "tensors"),
)
# The flight recorder of c10d: of all backends since torch 2.9, before that of NCCL's.
_RECORDERS = ("_dump_fr_trace_json", "_dump_nccl_trace_json")


def collect(locks: Any) -> dict[str, Any]:
    """Return what a member meets others in: of its main thread, and by key of the other ones.

    `locks` is hang's module of that name.
    """
    threads: dict[str, Any] = {}
    main = threading.main_thread().ident or 0
    for ident, frame in list(sys._current_frames().items())[:_THREADS]:  # noqa: SLF001 - there is no other way
        stack = list(_inner_frames(frame))
        parts = (_barrier_facts, _queue_facts, _call_facts, _lock_facts)
        found = _collect_parts(stack, locks, parts)
        if found and ident != main:
            threads[f"t{ident}"] = found
    own = sys._current_frames().get(main)  # noqa: SLF001 - the same
    every = (_barrier_facts, _queue_facts, _torch_facts, _lock_facts)
    facts = _collect_parts(list(_inner_frames(own)), locks, every)
    return {**facts, **({"threads": threads} if threads else {})}


def _collect_parts(stack: list[FrameType], locks: Any, parts: tuple[Any, ...]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for part in parts:
        # A library of another version may lack a part: then the rest is what is known.
        with suppress(Exception):
            facts.update(part(stack, locks))
    return facts


def _inner_frames(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _is_of(value: Any, *modules: str) -> bool:
    return type(value).__module__ in modules


# -- barriers --------------------------------------------------------------------------------------


def _barrier_facts(stack: list[FrameType], _locks: Any) -> dict[str, Any]:
    """Return how many must come to the barrier that the thread waits at, and how many are there."""
    for frame in stack:
        barrier: Any = frame.f_locals.get("self")
        is_wait = frame.f_code.co_name == "wait" and type(barrier).__name__ == "Barrier"
        if is_wait and _is_of(barrier, "threading", _SYNCHRONIZE):
            return {"parties": int(barrier.parties), "came": int(barrier.n_waiting)}
    return {}


# -- queues ----------------------------------------------------------------------------------------


def _queue_facts(stack: list[FrameType], _locks: Any) -> dict[str, Any]:
    """Return what the thread waits for in a queue's `join` or `put`.

    In `join` it waits for items without `task_done`, in `put` for a place in a full queue between
    processes, from whose pipe somebody must read.
    """
    for frame in stack:
        queue: Any = frame.f_locals.get("self")
        if frame.f_code.co_name == "put" and _is_of(queue, "multiprocessing.queues"):
            return _full_queue(queue, frame.f_locals.get("timeout"))
        if frame.f_code.co_name != "join":
            continue
        if _is_of(queue, "multiprocessing.queues"):
            return {"unfinished": int(queue._unfinished_tasks.get_value())}  # noqa: SLF001 - nothing public tells it
        if _is_of(queue, "queue"):
            return {"unfinished": int(queue.unfinished_tasks)}
    return {}


def _full_queue(queue: Any, timeout: Any) -> dict[str, Any]:
    # A SimpleQueue has no semaphore: its `put` waits for the pipe itself.
    if timeout is None and hasattr(queue, "_sem") and queue._sem._semlock._is_zero():  # noqa: SLF001 - nothing public tells it
        return {"full": int(queue._maxsize), "reader": int(queue._reader.fileno())}  # noqa: SLF001
    return {}


# -- torch.distributed -----------------------------------------------------------------------------


def _torch_facts(stack: list[FrameType], _locks: Any) -> dict[str, Any]:
    """Return the rank, the collective calls so far by process group, and the pending one."""
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or not c10d.is_initialized():
        return {}
    groups = _process_groups(c10d)
    facts: dict[str, Any] = {
        "rank": int(c10d.get_rank()),
        "groups": {
            name: {"number": _sequence_number(group), "ranks": ranks}
            for group, name, ranks in groups
        },
    }
    call = _called_collective(stack, c10d, groups) or _recorded_collective(c10d)
    if call is not None:
        facts["call"] = call
    return facts


def _call_facts(stack: list[FrameType], _locks: Any) -> dict[str, Any]:
    """Return the call of torch.distributed that a thread is in."""
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or not c10d.is_initialized():
        return {}
    call = _called_collective(stack, c10d, _process_groups(c10d))
    return {"call": call} if call is not None else {}


def _process_groups(c10d: Any) -> list[tuple[Any, str, list[int]]]:
    """Return the process groups: the object, its name, and the ranks in it.

    The tables stand in the module until torch 1.13, since then in its `_world`.
    """
    world = getattr(c10d, "_world", None)
    names = getattr(world, "pg_names", None) or getattr(c10d, "_pg_names", {})
    ranks = getattr(world, "pg_group_ranks", None) or getattr(c10d, "_pg_group_ranks", {})
    default = _default_group(c10d)
    found = []
    for group, name in list(names.items()):
        own = sorted(ranks.get(group) or range(group.size()))[:_RANKS]
        found.append((group, "" if group is default else str(name), own))
    return found


def _default_group(c10d: Any) -> Any:
    return c10d._get_default_group()  # noqa: SLF001 - torch has no public name for it


def _sequence_number(group: Any) -> int | None:
    try:
        return int(group._get_sequence_number_for_group())  # noqa: SLF001 - the same
    except (AttributeError, RuntimeError):
        return None


def _called_collective(
    stack: list[FrameType], c10d: Any, groups: list[tuple[Any, str, list[int]]]
) -> dict[str, Any] | None:
    """Return the call of torch.distributed that is on the stack: the one nearest to the program."""
    own = [
        one
        for one in stack
        if one.f_code.co_filename == c10d.__file__ and not one.f_code.co_name.startswith("_")
    ]
    if not own:
        return None
    frame = own[-1]
    known = frame.f_locals
    requested = known.get("group")
    default = _default_group(c10d)
    group = requested if any(requested is one for one, _, _ in groups) else default
    name, ranks = next((name, ranks) for one, name, ranks in groups if one is group)
    call = {
        "name": frame.f_code.co_name,
        "group": name,
        "ranks": ranks,
        "number": _sequence_number(group),
        "tensors": _describe_tensors(known),
    }
    for way, words in (("src", "from"), ("dst", "to")):
        peer = known.get(way)
        if call["name"] in {"recv", "send"} and isinstance(peer, int):
            call["peer"] = f"{words} rank {peer}"
    return call


def _describe_tensors(known: dict[str, Any]) -> str:
    for name in _TENSORS:
        value: Any = known.get(name)
        tensors: list[Any] = list(value) if type(value) is list or type(value) is tuple else [value]
        if tensors and all(map(_is_tensor, tensors)):
            first = tensors[0]
            text = f"{list(first.shape)} {str(first.dtype).rpartition('.')[2]}"
            return text if len(tensors) == 1 else f"{len(tensors)} of {text}"
    return ""


def _is_tensor(value: Any) -> bool:
    # The exact types: an attribute of a subclass is code of the program.
    return type(value).__name__ in {"Tensor", "Parameter"} and _is_of(
        value, "torch", "torch.nn.parameter"
    )


def _recorded_collective(c10d: Any) -> dict[str, Any] | None:
    """Return the pending call of the flight recorder: of an asynchronous call, or of DDP."""
    compiled = sys.modules.get("torch._C._distributed_c10d")
    for name in _RECORDERS:
        dump = getattr(compiled, name, None)
        if dump is None:
            continue
        entries = json.loads(dump(True, True)).get("entries", ())  # noqa: FBT003 - only pending ones
        entries = [one for one in entries if not one.get("retired")]
        if entries:
            return _recorded_call(entries[0], c10d)
    return None


def _recorded_call(entry: dict[str, Any], c10d: Any) -> dict[str, Any]:
    name = str((entry.get("process_group") or [""])[0])
    default = _default_group(c10d)
    found = [
        (label, ranks)
        for group, label, ranks in _process_groups(c10d)
        if label == name or (group is default and not _is_named(name, c10d))
    ]
    label, ranks = found[0] if found else (name, [])
    shapes = entry.get("input_sizes") or entry.get("output_sizes") or [[]]
    kinds = entry.get("input_dtypes") or entry.get("output_dtypes") or [""]
    text = f"{shapes[0]} {kinds[0]}".strip() if shapes[0] else ""
    return {
        "name": str(entry.get("profiling_name", "")).rpartition(":")[2],
        "group": label,
        "ranks": ranks,
        "number": entry.get("collective_seq_id"),
        "tensors": text if len(shapes) < 2 else f"{len(shapes)} of {text}",  # noqa: PLR2004 - several
    }


def _is_named(name: str, c10d: Any) -> bool:
    return any(label == name for _, label, _ in _process_groups(c10d) if label)


# -- locks between processes -----------------------------------------------------------------------


def _lock_facts(stack: list[FrameType], locks: Any) -> dict[str, Any]:
    """Return the name of the lock of multiprocessing that the thread waits for."""
    lock = _awaited_lock(stack, locks)
    return {"lock": _lock_name(lock)} if lock is not None else {}


def _awaited_lock(stack: list[FrameType], locks: Any) -> Any:
    """Return the lock of multiprocessing that the thread waits for."""
    for frame in stack[:2]:
        lock = frame.f_locals.get("self")
        if frame.f_code.co_name == "__enter__" and _is_lock(lock):
            return lock
    # `acquire` is a method of compiled code and has no frame: the source line names the lock.
    if stack and stack[0].f_code.co_name == "_feed":
        # A queue's own thread waits for its turn to write.
        lock = stack[0].f_locals.get("writelock")
        return lock if _is_lock(lock) else None
    found = [one for one, _ in locks.requested_objects(stack[0])] if stack else []
    return next((one for one in found if _is_lock(one)), None)


def _is_lock(value: Any) -> bool:
    return type(value).__name__ in {"Lock", "RLock"} and _is_of(value, _SYNCHRONIZE)


def _lock_name(lock: Any) -> str:
    return str(lock._semlock.name)  # noqa: SLF001 - one name in all processes that share the lock


def find_held(names: list[str], locks: Any) -> dict[str, str]:
    """Return those locks of multiprocessing, by name, that this process holds.

    The value is the key of the thread that holds it, "" where the source does not tell.
    """
    import gc

    # `_count` is of this process: how often it has acquired the lock and not released it.
    own = {
        _lock_name(one)
        for one in gc.get_objects()
        if _is_lock(one) and one._semlock._count() > 0  # noqa: SLF001 - nothing public tells it
    }
    found = dict.fromkeys([one for one in names if one in own][:_LOCKS], "")
    for ident, frame in list(sys._current_frames().items()) if found else ():  # noqa: SLF001
        for one in _inner_frames(frame):
            for value in locks.held_objects(one):
                # A condition has a lock of its own.
                lock = getattr(value, "_lock", None) if _is_of(value, _SYNCHRONIZE) else None
                lock = value if _is_lock(value) else lock
                if _is_lock(lock) and _lock_name(lock) in found:
                    found[_lock_name(lock)] = f"t{ident}"
    return found
