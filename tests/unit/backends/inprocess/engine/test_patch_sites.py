"""A trampoline leads to the common code and to its slot, and nowhere else."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("capstone")

from debugger.backends.inprocess.engine import patch_sites
from debugger.backends.inprocess.engine.displaced_instruction import NotDisplaceableError

BASE = 0x5555_5555_0000


@given(used=st.integers(0, patch_sites.CAPACITY - 1))
def test_a_stub_calls_the_common_code_and_goes_on_in_its_slot(used):
    arena = patch_sites.StubArena(BASE, used)
    site = patch_sites.make_site(b"\x55" + b"\x90" * 15, BASE + 0x10000, arena)
    assert len(site.code) == patch_sites.WIDTH
    (call,) = struct.unpack_from("<i", site.code, 6)
    assert site.stub + 10 + call == BASE
    # Where it goes on is in its record, which the agent fills in.
    assert site.code[18:20] == b"\xff\x25"
    (at,) = struct.unpack_from("<i", site.code, 20)
    assert site.stub + 24 + at == site.stub + patch_sites.RECORDS + 64
    assert site.code[site.slot_address - site.stub] == 0x55
    assert arena.used == used + 1


def test_short_instructions_give_way_to_a_jump_together_where_they_may():
    code = bytes.fromhex("554889e54883ec20").ljust(32, b"\x90")
    arena = patch_sites.StubArena(BASE)
    alone = patch_sites.make_site(code, BASE + 0x10000, arena)
    assert (alone.wide, alone.original) == (0, b"\x55")
    wide = patch_sites.make_site(code, BASE + 0x10000, arena, may_be_wide=True)
    assert (wide.jump, wide.wide, wide.original) == (False, 8, code[:5])
    at = wide.wide_slot - wide.stub
    assert wide.code[at : at + 8] == code[:8]
    assert wide.code[at + 8 : at + 14] == b"\xff\x25\0\0\0\0"
    (on,) = struct.unpack_from("<Q", wide.code, at + 14)
    assert on == BASE + 0x10008


@pytest.mark.parametrize("code", ["55c3", "55ebfe", "55ffd0", "55e800000000"])
def test_what_leaves_early_does_not_give_way(code):
    given = bytes.fromhex(code).ljust(32, b"\x90")
    site = patch_sites.make_site(
        given, BASE + 0x10000, patch_sites.StubArena(BASE), may_be_wide=True
    )
    # A call may be the last of them, for nothing comes back into the bytes before it.
    assert site.wide == (6 if code.startswith("55e8") else 0)


def test_stubs_and_their_records_never_share_a_page():
    last = patch_sites.StubArena(BASE, patch_sites.CAPACITY - 1).take_stub()
    assert last + patch_sites.WIDTH <= BASE + patch_sites.RECORDS
    assert last + patch_sites.RECORDS + patch_sites.WIDTH <= BASE + patch_sites.ARENA
    assert (
        patch_sites.StubArena(BASE).take_stub() + patch_sites.RECORDS >= BASE + patch_sites.RECORDS
    )


def test_an_arena_serves_what_can_reach_it_until_it_is_full():
    assert patch_sites.StubArena(BASE).is_for(BASE + 0x1000_0000)
    assert not patch_sites.StubArena(BASE).is_for(BASE + 0x8000_0000)
    assert not patch_sites.StubArena(BASE, patch_sites.CAPACITY).is_for(BASE)


@pytest.mark.parametrize(
    ("code", "jump", "original"),
    [("4889e5", False, "48"), ("c745fc05000000", True, "c745fc0500")],
)
def test_a_jump_is_laid_only_where_the_instruction_has_room(code, jump, original):
    site = patch_sites.make_site(bytes.fromhex(code), BASE + 0x10000, patch_sites.StubArena(BASE))
    assert (site.jump, site.original) == (jump, bytes.fromhex(original))


def test_what_is_refused_takes_no_room():
    arena = patch_sites.StubArena(BASE)
    with pytest.raises(NotDisplaceableError):
        patch_sites.make_site(b"\xcc", BASE + 0x10000, arena)
    assert arena.used == 0
