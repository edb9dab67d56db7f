"""Does a stub lead to the common code, to its slot, and nowhere else?"""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("capstone")

from debugger.backends.frida.engine import stubs
from debugger.backends.frida.engine.displaced import NotDisplaceableError

BASE = 0x5555_5555_0000


@given(used=st.integers(0, stubs.CAPACITY - 1))
def test_a_stub_calls_the_common_code_and_goes_on_in_its_slot(used):
    arena = stubs.Arena(BASE, used)
    site = stubs.make_site(b"\x55" + b"\x90" * 15, BASE + 0x10000, arena)
    assert len(site.code) == stubs.WIDTH
    (call,) = struct.unpack_from("<i", site.code, 6)
    assert site.stub + 10 + call == BASE
    (jump,) = struct.unpack_from("<i", site.code, 19)
    assert site.code[23 + jump] == 0x55
    assert arena.used == used + 1


def test_stubs_and_their_records_never_share_a_page():
    last = stubs.Arena(BASE, stubs.CAPACITY - 1).take()
    assert last + stubs.WIDTH <= BASE + stubs.RECORDS
    assert last + stubs.RECORDS + stubs.WIDTH <= BASE + stubs.ARENA
    assert stubs.Arena(BASE).take() + stubs.RECORDS >= BASE + stubs.RECORDS


def test_an_arena_serves_what_can_reach_it_until_it_is_full():
    assert stubs.Arena(BASE).is_for(BASE + 0x1000_0000)
    assert not stubs.Arena(BASE).is_for(BASE + 0x8000_0000)
    assert not stubs.Arena(BASE, stubs.CAPACITY).is_for(BASE)


@pytest.mark.parametrize(
    ("code", "jump", "original"),
    [("4889e5", False, "48"), ("c745fc05000000", True, "c745fc0500")],
)
def test_a_jump_is_laid_only_where_the_instruction_has_room(code, jump, original):
    site = stubs.make_site(bytes.fromhex(code), BASE + 0x10000, stubs.Arena(BASE))
    assert (site.jump, site.original) == (jump, bytes.fromhex(original))


def test_what_is_refused_takes_no_room():
    arena = stubs.Arena(BASE)
    with pytest.raises(NotDisplaceableError):
        stubs.make_site(b"\xcc", BASE + 0x10000, arena)
    assert arena.used == 0
