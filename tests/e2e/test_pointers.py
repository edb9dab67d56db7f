"""Suspicious pointers are explained in a line, by every debugger of native programs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, resolve_program
from debuggees import build_debuggee
from debugger.model.pointers.glibc_heap import (
    find_first_chunk,
    find_first_thread_chunk,
    parse_heap,
)
from debugger.model.signals import parse_memory_map
from running_programs import dump_core

WILD = "pointers/wild.c"
TEXT = r"bytes `H\x16data/0`: text; no address: not canonical"
FREED = "start of a freed heap block of 40 bytes (glibc's tcache)"
BACKENDS = [
    pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
    pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
    pytest.param(("--adapter", "codelldb"), marks=pytest.mark.adapter("codelldb")),
    pytest.param(("--backend", "lldb-cli"), marks=pytest.mark.adapter("lldb-cli")),
    pytest.param(("--backend", "frida"), marks=pytest.mark.adapter("frida")),
]


def explain(cli: Callable[..., Any], expression: str) -> str:
    """Return the explanation of a pointer that is printed; "" without one."""
    found = answer_data(cli("--json", "print", expression, check=0)).get("pointers", [])
    return next((one["text"] for one in found if one["name"] == expression), "")


@pytest.mark.parametrize("words", BACKENDS)
def test_a_pointer_that_is_printed_is_explained(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    program = resolve_program(WILD)
    cli("start", *words, program, "--break", marked_location(WILD, "crash"), check=0)
    assert explain(cli, "node->next") == TEXT
    assert explain(cli, "word") == TEXT
    assert explain(cli, "node") == "start of a heap block of 40 bytes"
    assert explain(cli, "gone") == FREED
    assert explain(cli, "link").startswith("what glibc's free wrote into the freed heap block at")
    assert explain(cli, "object") == "32 bytes into table (128 bytes), in wild, rw-"
    assert explain(cli, "outer").endswith(": 8 bytes into outer (16 bytes) in frame #1 main")
    assert explain(cli, "returned").endswith(
        "below its innermost frame: of a call that has returned"
    )
    assert explain(cli, "member") == "the number 16, or 16 bytes from a null pointer"
    assert explain(cli, "failed") == "the number -12, -ENOMEM as an error"
    assert explain(cli, "poison").startswith("a common mark of memory that is freed or not set")
    assert explain(cli, "filled").startswith("0x8 above 0xbebebebebebebebe, how AddressSanitizer")
    assert explain(cli, "unmapped") == "not mapped"
    # That backend lets other threads run: where they are is not known.
    is_running = "frida" in words
    said = explain(cli, "of_a_thread")
    assert is_running != ("4 bytes into array (16 bytes) in frame" in said)
    found = answer_data(cli("--json", "eval", "gone", check=0))["pointers"]
    assert [one["text"] for one in found] == [FREED]
    said = cli("print", "node->next", check=0).out
    assert f"pointer node->next: {TEXT}\n" in said


@pytest.mark.parametrize("words", BACKENDS)
def test_only_the_suspicious_locals_are_explained_and_at_most_three(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    program = resolve_program(WILD)
    cli("start", *words, program, "--break", marked_location(WILD, "crash"), check=0)
    answer = answer_data(cli("--json", "locals", check=0))
    found = answer["pointers"]
    assert len(found) == 3
    assert answer["pointers_omitted"]
    assert not {one["name"] for one in found} & set(answer["pointers_omitted"])
    assert {one["kind"] for one in found} <= {"text", "freed", "freed_link", "returned", "pattern"}
    assert f"pointer gone: {FREED}\n" in cli("locals", check=0).out
    # In main none is suspicious once all are set, but `gone` and `first` are freed.
    cli("frame", "1", check=0)
    kinds = {
        one["name"]: one["kind"]
        for one in answer_data(cli("--json", "locals", check=0))["pointers"]
    }
    assert kinds["first"] == kinds["gone"] == "freed"
    assert "node" not in kinds


@pytest.mark.adapter("lldb-dap")
def test_further_pointers_are_counted_with_a_command_that_explains_one(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    source, program = tmp_path / "five.c", tmp_path / "five"
    source.write_text(
        "struct five { long *a, *b, *c, *d, *e; };\n"
        "int main(void) {\n"
        "    struct five x = {(long *)0xdeadbeefdeadbeef, (long *)0x6f6c6c6548202020,\n"
        "                     (long *)0xcccccccccccccccc, (long *)0x5a5a5a5a5a5a5a5a,\n"
        "                     (long *)0xfeeefeeefeeefeee};\n"
        "    return (int)*x.a;\n"
        "}\n"
    )
    subprocess.run(["gcc", "-g", source, "-o", program], check=True)
    crash = cli("crash", "--no-why", "--", program, check=0).out
    assert "pointer x.a: a common mark of memory that is freed" in crash
    cli("start", program, "--break", f"{source.name}:6", check=0)
    (more,) = [one for one in cli("print", "x", check=0).out.splitlines() if "more" in one]
    assert more.startswith("… 2 more suspicious pointers: x.")
    command = more.rpartition(": debugger print ")[2]
    assert cli("print", command, check=0).out.count(f"pointer {command}: ") == 1


@pytest.mark.parametrize("words", BACKENDS)
def test_a_crash_explains_the_pointer_that_it_went_through(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    answer = answer_data(cli("crash", "--json", *words, "--", resolve_program(WILD), check=0))
    first = answer["pointers"][0]
    assert (first["name"], first["kind"], first["text"]) == ("node->next", "text", TEXT)
    assert first["value"] == "0x302f617461641648"
    assert len(answer["pointers"]) == 3


@pytest.mark.adapter("lldb-dap")
def test_the_pointers_of_a_core_file_are_explained(cli: Callable[..., Any], tmp_path: Path) -> None:
    program = build_debuggee(WILD)
    core = dump_core(program, tmp_path)
    answer = answer_data(cli("crash", "--json", "--core", core, program, check=0))
    assert [one["text"] for one in answer["pointers"]][:2] == [TEXT, FREED]
    cli("attach", "--core", core, program, check=0)
    assert explain(cli, "node") == "start of a heap block of 40 bytes"
    assert explain(cli, "object") == "32 bytes into table (128 bytes), in wild, rw-"
    assert explain(cli, "outer").endswith(": 8 bytes into outer (16 bytes) in frame #1 main")
    assert explain(cli, "unmapped") == "not in the core file's memory map"


@pytest.mark.parametrize("words", BACKENDS)
def test_rusts_pointers_are_explained_and_empty_collections_are_not(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    program = resolve_program("pointers/raw.rs")
    place = marked_location("pointers/raw.rs", "crash")
    cli("start", *words, program, "--break", place, check=0)
    found = answer_data(cli("--json", "locals", check=0)).get("pointers", [])
    assert {one["kind"] for one in found} <= {"text"}
    assert "node in frame #1" in explain(cli, "node")
    # One of the backends prints what is in a Box, without its address.
    assert explain(cli, "boxed") in {"start of a heap block of 24 bytes", ""}


@pytest.mark.adapter("delve")
def test_a_go_pointer_that_is_text_is_explained(cli: Callable[..., Any]) -> None:
    source = "pointers/word.go"
    cli("start", resolve_program(source), "--break", marked_location(source, "here"), check=0)
    assert explain(cli, "raw") == TEXT
    assert explain(cli, "word") == TEXT
    assert "into main.table" in explain(cli, "object")
    kinds = [one["kind"] for one in answer_data(cli("--json", "locals", check=0))["pointers"]]
    assert kinds == ["text"]


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize("seed", range(1, 9))
def test_no_block_in_use_is_called_freed_and_each_is_found(seed: int, *, in_thread: bool) -> None:
    words = [build_debuggee("pointers/heap.c"), str(seed), *(["thread"] if in_thread else [])]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "ready\n")
        in_use = {int(address, 16): int(size) for address, size in map(str.split, lines)}
        maps = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
        known = min(in_use)
        region = next(one for one in parse_memory_map(maps) if one.start <= known < one.end)
        with Path(f"/proc/{process.pid}/mem").open("rb") as memory:
            memory.seek(region.start)
            content = memory.read(region.end - region.start)
        process.stdin.close()
    find_first = partial(find_first_thread_chunk, region.start) if in_thread else find_first_chunk
    first = find_first(content)
    assert first is not None
    heap = parse_heap(region.start + first, region.end, content[first:], [content[:first]])
    assert heap is not None
    assert sum(bool(one.freed_in) for one in heap.blocks) > 20
    for address, size in in_use.items():
        block = heap.find_block(address)
        assert block is not None
        assert (block.start, block.freed_in) == (address, "")
        assert block.size >= size
        assert heap.find_block(address + size - 1) == block


@pytest.mark.parametrize("words", BACKENDS[:2])
def test_an_address_that_was_altered_is_explained_with_what_it_was(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    source = "pointers/altered.c"
    place = marked_location(source, "here")
    of_loader = ("--env", "LD_LIBRARY_PATH=/nonexistent")
    cli("start", *words, resolve_program(source), *of_loader, "--break", place)
    # A variable that would change how the adapter itself runs reaches the program.
    pid = answer_data(cli("--json", "status"))["pid"]
    assert b"LD_LIBRARY_PATH=/nonexistent\0" in Path(f"/proc/{pid}/environ").read_bytes()
    block = "a heap block of 40 bytes"
    assert explain(cli, "above").endswith(f" with the tag 0x5a00 above it: start of {block}")
    assert explain(cli, "below") == f"1 byte into {block}, or its start with the tag 1"
    assert explain(cli, "second") == f"1 byte into {block}"
    assert explain(cli, "cut").endswith(f", start of {block}")
    assert explain(cli, "cut").startswith("not mapped; the low 32 bits of 0x")
    assert explain(cli, "behind") == f"the end of {block}, before {block}"
    assert explain(cli, "beyond").startswith("4 bytes behind table (12 bytes), in altered")
    assert explain(cli, "returned").endswith(
        " below frame #0 main, in none of its variables: perhaps of a call that has returned"
    )
    assert explain(cli, "large") == "5,000 bytes into a heap block of 1,052,656 bytes"
    assert explain(cli, "literal").endswith(" bytes), in altered, r--")
    assert " into .rodata (" in explain(cli, "literal")
    assert explain(cli, "number") == "the bits of the double 3.25; no address: not canonical"
    # A hash whose bytes happen to be printable is none of the program's texts.
    assert explain(cli, "hash") == ""
    assert explain(cli, "in_thread") == "start of a heap block of 56 bytes"
    assert explain(cli, "gone_in_thread") == (
        "start of a freed heap block of 56 bytes (glibc's tcache)"
    )
