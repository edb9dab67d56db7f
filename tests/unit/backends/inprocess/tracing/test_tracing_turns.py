"""Other sessions go on while a program of thousands of functions is made ready for tracing."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from debugger.backends.inprocess import tracing_ability
from debugger.backends.inprocess.engine import patch_sites
from debugger.backends.inprocess.engine.displaced_instruction import NotDisplaceableError
from debugger.backends.inprocess.engine.patch_sites import PatchSites
from debugger.backends.inprocess.tracing.call_format import CallFormat
from debugger.backends.inprocess.tracing.trace_targets import MatchedFunctions, TraceTarget


async def test_the_arguments_of_traced_functions_are_read_outside_of_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readers: set[threading.Thread] = set()

    def words_of(target: TraceTarget) -> CallFormat:
        readers.add(threading.current_thread())
        return CallFormat(lambda _record: target.name, lambda _record: None)

    async def trace_functions(functions: Any, rate: int) -> dict[int, str]:
        assert rate
        assert len(functions) == 3
        return {}

    found = [TraceTarget(f"f{at}", at, cast("Any", None)) for at in (1, 2, 3)]
    monkeypatch.setattr(tracing_ability, "match_functions", lambda *_: MatchedFunctions(found))
    monkeypatch.setattr(tracing_ability, "words_of", words_of)
    monkeypatch.setattr(tracing_ability, "_has_room", lambda _: False)
    engine = SimpleNamespace(trace_functions=trace_functions)
    target: Any = SimpleNamespace(modules=[], engine=engine)
    (traced,) = await tracing_ability.InProcessTracing(target).trace_functions(["f*"])
    assert traced.functions == 3
    assert readers
    assert threading.current_thread() not in readers


async def test_the_sites_of_many_functions_are_made_in_several_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sites: list[int] = []

    async def send_order(name: str, **words: Any) -> tuple[None, bytes]:
        count = words.get("count", 0) * len(words.get("addresses", ()))
        return None, bytes(count) if name == "peek" else b""

    def make_site(_code: bytes, address: int, _arena: object, **_words: bool) -> None:
        sites.append(address)
        raise NotDisplaceableError("no code")

    async def arena_for(_address: int) -> None: ...

    async def count_sites() -> int:
        return len(sites)

    monkeypatch.setattr(patch_sites, "make_site", make_site)
    made = PatchSites(cast("Any", SimpleNamespace(send_order=send_order)))
    monkeypatch.setattr(made, "_arena_for", arena_for)
    other = asyncio.create_task(count_sites())
    refused = await made.make_sites(range(1_000))
    assert len(refused) == 1_000
    assert other.done()
    assert await other < 1_000
