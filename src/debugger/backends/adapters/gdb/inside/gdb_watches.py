"""Records the changes of watched memory in a traced run. Run inside gdb."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
snapshots: Any = importlib.import_module("gdb_snapshots")
returns: Any = importlib.import_module("gdb_returns")
heap: Any = importlib.import_module("gdb_heap")
stores: Any = importlib.import_module("gdb_stores")

_STACK_ABOVE, _STACK_SIZE = 1 << 20, 9 << 20  # bytes above the first frame, and in all
_STORE = 16  # bytes that one instruction stores: vectors of 16, as the recorder sees them
_WORD = 8  # bytes of a debug register at most
_COPY_CHANGES = 6000  # changes of other memory with the value, after which it is not watched
_BLOCK_USES = 3000  # changes of a block's first words, as of a counter there
_OTHER = ":other"  # ends the key of a copy's changes to other values
_OTHERS_DEEP = 100  # changes to other values than the last one that have a stack
_OWNER_CHANGES = 1500  # changes of a local's memory, after which other calls are not watched
_LEVELS = 24  # frames that are looked at


class WatchedMemory(gdb.Breakpoint):  # type: ignore[misc]
    """A hardware watchpoint on raw memory, which counts and records its changes."""

    def __init__(self, run: Any, plan: dict[str, Any]) -> None:
        address, size = plan["address"], plan["size"]
        kind = {1: "char", 2: "short", 4: "int", 8: "long"}[size]
        expression = f"*(unsigned {kind} *) {address:#x}"
        if plan.get("is_wide"):
            expression = f"*(unsigned long *) {address - address % _WORD:#x}"
        self.is_of_stores = plan["of_stores"]
        used = gdb.WP_ACCESS if self.is_of_stores else gdb.WP_WRITE
        super().__init__(expression, type=gdb.BP_WATCHPOINT, wp_class=used, internal=True)
        self.key = plan["key"]
        self._run, self._address, self._size = run, address, size
        self._plan, self._uses = plan, 0
        self._is_of_block, self._bits = plan["of_block"], plan["bits"]
        self._value, self._is_copy = plan["value"], plan["is_copy"]
        self.owner, self._since = plan["owner"], 0
        top = int(gdb.parse_and_eval("(unsigned long) $sp"))
        self._is_stack = 0 <= top + _STACK_ABOVE - address < _STACK_SIZE
        self.before = self.read_bytes()

    def read_bytes(self) -> str:
        """Return the bytes of the memory; of a bit-field those of its number.

        Nothing where it is not mapped.
        """
        try:
            inferior = gdb.selected_inferior()
            found = bytes(inferior.read_memory(self._address, self._size))
        except gdb.error:
            return ""
        if self._bits:
            shift, width = self._bits
            number = int.from_bytes(found, "little") >> shift & (1 << width) - 1
            found = number.to_bytes(self._size, "little")
        return found.hex()

    def stop(self) -> bool:
        """Record a change, and those of the other watchpoints by the same instruction.

        Of a store that several debug registers see, gdb 16 reports one: on x86 it asks for one
        address.
        """
        run = self._run
        self._uses += 1
        # A store to another bit-field of the same bytes writes this one's bits again.
        is_store = (
            self.is_of_stores and not self._bits and stores.is_store_before(gdb.newest_frame().pc())
        )
        self.record_change(is_store=is_store)
        for one in run.watches:
            # A page comes as zeros: when its neighbours show that depends on what a run watches.
            is_new = not one.before and not one.read_bytes().strip("0")
            is_near = abs(one._address - self._address) < _STORE  # noqa: SLF001 - of its own class
            if is_near and not is_new and one.is_valid():
                one.record_change()
        is_end = any(run.is_end_event(one.key) for one in run.watches)
        run.is_over = run.is_over or is_end or run.is_late()
        changes = run.counts[self.key] + run.counts[self.key + _OTHER]
        is_hot = self._is_copy and run.is_hot(self, changes, _COPY_CHANGES)
        is_hot |= self._is_of_block and run.is_hot(self, self._uses, _BLOCK_USES)
        return run.is_over or is_hot or self._is_of_others() or self._is_much_used()

    def _is_much_used(self) -> bool:
        """Return whether loads cost too many stops; then changes alone are watched from here on."""
        if not self.is_of_stores or self._uses != self._plan["uses_most"]:
            return False
        self._run.used.append(self)
        return True

    def watch_changes(self) -> WatchedMemory:
        """Return a watchpoint in place of this one, which reports changes alone."""
        self.delete()
        gdb.execute("set language c", to_string=True)
        plain = WatchedMemory(self._run, {**self._plan, "of_stores": False})
        gdb.execute("set language auto", to_string=True)
        return plain

    def _is_of_others(self) -> bool:
        """Return whether other calls change a local's memory too often; then it is switched off."""
        self._since += 1
        if not self.owner or self._since % _OWNER_CHANGES:
            return False
        frame, number = gdb.newest_frame(), 0
        while frame is not None and number < _LEVELS:
            if [returns.caller_address(frame), snapshots.entry_of(frame)] == self.owner:
                return False
            frame, number = frame.older(), number + 1
        self._run.switched.append(self)
        return True

    def record_change(self, *, is_store: bool = False) -> None:
        """Record a change, unless it is known already, or a store that changes nothing."""
        run = self._run
        now = self.read_bytes()
        if now == self.before and not is_store:
            return
        if self._is_stack and (not run.has_begun or _is_in_loader()):
            self.before = now
            return
        kind = heap.classify_write(self.before, now) if self._is_of_block else ""
        if kind is None:
            self.before = now
            return
        # A counter's steps have other values: they matter, too, if they are few.
        is_many = self._is_copy or run.counts[self.key] >= _OTHERS_DEEP
        is_other = bool(self._value) and now != self._value and is_many
        # Of a copy only the changes to its value are counted: whether the others are seen, as those
        # by the system, depends on what a run watches beside it.
        is_copys_other = self._is_copy and is_other
        event = run.add_event(
            self.key + (_OTHER if is_copys_other else kind),
            {"old": self.before, "new": now},
            is_write=True,
            is_shallow=is_other,
            is_kept=not is_copys_other,
        )
        if event["deep"]:
            self._add_stream(event)
            event["source"] = stores.find_copied_memory(self._address, self._size)
        self.before = now

    def _add_stream(self, event: dict[str, Any]) -> None:
        """Add the file of a C stream from which a library function has filled the memory."""
        own = next((one for one in event["frames"] if one["vars"]), None)
        if own is None or own is event["frames"][0]:
            return
        found = snapshots.read_stream(own, self._address)
        if found:
            behind = found.pop("behind")
            event.update(found)
            event.update(describe_descriptor(found["descriptor"], behind, from_position=True))
            if behind is None:
                event.pop("offset", None)


def _is_in_loader() -> bool:
    """Return whether the program resolves a library's function, at the first call of it.

    What that leaves on the stack depends on the processor's state, and differs between runs.
    """
    return _is_of_loader(gdb.newest_frame().pc())


@functools.lru_cache(maxsize=4096)
def _is_of_loader(pc: int) -> bool:
    """Return whether an address of the innermost frame is the loader's."""
    frame = gdb.newest_frame()
    return frame.pc() == pc and (frame.name() or "").startswith("_dl_")


def _shared_words(plans: list[dict[str, Any]]) -> set[int]:
    """Return the words of 8 bytes in which several watched variables lie, by their numbers.

    Of a store to both gdb 13 to 16 look at one alone, and report nothing if that has not changed.
    So the whole word is watched for each, which takes one debug register.
    """
    words = [one["address"] // _WORD for one in plans]
    exact = {one["address"] // _WORD for one in plans if one["of_stores"]}
    return {one for one in words if words.count(one) > 1} - exact


def set_watches(run: Any) -> None:
    """Set the watchpoints of a plan, as many as the processor has."""
    found = []
    gdb.execute("set language c", to_string=True)
    shared = _shared_words(run.plan["watches"])
    for one in run.plan["watches"]:
        try:
            is_wide = one["address"] // _WORD in shared
            watch = WatchedMemory(run, {**one, "is_wide": is_wide})
        except (gdb.error, RuntimeError) as error:
            run.result["notes"].append(f"cannot watch {one['address']:#x}: {error}")
            continue
        if watch.type not in {gdb.BP_HARDWARE_WATCHPOINT, gdb.BP_ACCESS_WATCHPOINT}:
            watch.delete()
            run.result["notes"].append(f"no watchpoint register is free for {one['address']:#x}")
            continue
        run.result.setdefault("initial", {})[one["key"]] = watch.before
        found.append(watch)
    run.watches = found
    gdb.execute("set language auto", to_string=True)


def replace_used(run: Any) -> bool:
    """Watch the changes alone of memory that is loaded too often; tell whether there is any."""
    used, run.used = run.used, []
    for one in used:
        run.watches[run.watches.index(one)] = one.watch_changes()
        run.result["unstored"].append(one.key)
    return bool(used)


def finish_watches(run: Any) -> None:
    """Keep what the watched memory has at the end, and delete the watchpoints."""
    run.result["final"] = {one.key: one.read_bytes() for one in run.watches if one.is_valid()}
    for one in run.watches:
        if one.is_valid():
            one.delete()


def describe_descriptor(descriptor: int, at: int | None, *, from_position: bool) -> dict[str, Any]:
    """Return the file of a descriptor, and the offset of what a call has read there.

    The offset counts from the file's begin, or from the descriptor's position now.
    """
    folder = Path(f"/proc/{gdb.selected_inferior().pid}")
    found: dict[str, Any] = {}
    try:
        found["file"] = str((folder / "fd" / str(descriptor)).readlink())
        position = (folder / "fdinfo" / str(descriptor)).read_text().split()[1]
        if not found["file"].startswith(("socket:", "pipe:")):
            found["offset"] = (int(position) if from_position else 0) + (at or 0)
    except (OSError, IndexError, ValueError):
        pass
    return found
