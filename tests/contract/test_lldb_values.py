"""Small integers are numbers in LLDB, and Rust's values look like Rust."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from adapter_specs import with_specs_where
from adapter_specs.adapter_spec import AdapterSpec, native_program
from debuggees import build_debuggee, find_marker, find_source
from debugger.backends.base import AttachTarget
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import Stopped

_lldb_specs = with_specs_where(lambda adapter_spec: "lldb" in adapter_spec.name)


def stop_at_marker(name: str) -> BreakpointSpec:
    return BreakpointSpec(file=str(find_source(name)), line=find_marker(name, "here"))


@_lldb_specs
async def test_integers_of_one_byte_are_numbers_and_characters_are_not(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(native_program("small.c")(Path()), stop_at_marker("small.c"))
        found = await one.locals(await one.frame(stop))
        assert found["one"].value == "{low:-2, high:200, unit:'C'}"
        assert found["change"].value == "-5"
        assert found["at"].value.startswith(("0x", '"'))


@_lldb_specs
async def test_an_array_of_unknown_length_is_not_shown_as_empty(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(native_program("small.c")(Path()), stop_at_marker("small.c"))
        # Gcc writes no offset of a union's members, and LLDB then leaves out how long they are.
        assert await one.value(stop, "word.halves") in {
            "<length not known: print its elements>",
            "{772, 258}",
        }
        assert await one.value(stop, "word.halves[1]") == "258"
        text = await one.value(stop, "word.bytes")
        four = r'"\U00000004\U00000003\U00000002\U00000001'
        assert text.startswith(four)
        assert text == four + '"' or text.endswith(" (length not known)")


@_lldb_specs
async def test_rusts_integers_of_one_byte_are_numbers_and_its_characters_are_not(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(
            native_program("expressions.rs")(Path()), stop_at_marker("expressions.rs")
        )
        found = await one.locals(await one.frame(stop))
        assert found["letter"].value == "U'é'"
        assert await one.value(stop, "array[1]") == "20"
        assert await one.value(stop, "track->pair") == "(1, -2)"


@_lldb_specs
async def test_an_enum_of_rust_is_the_variant_that_it_is(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(native_program("niche.rs")(Path()), stop_at_marker("niche.rs"))
        found = await one.locals(await one.frame(stop))
        assert found["text"].value == 'Text("b")'
        assert found["number"].value == "Number(2.5)"
        assert found["empty"].value == "Empty"
        assert found["pair"].value == "Pair{key:120, value:7}"


@_lldb_specs
async def test_unordered_containers_and_texts_with_zero_bytes_are_shown_whole(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(
            native_program("unordered.cpp")(Path()), stop_at_marker("unordered.cpp")
        )
        found = await one.locals(await one.frame(stop))
        assert found["groups"].value == 'size=1 {{first:"even", second:size=2}}'
        assert found["names"].value == 'size=1 {"one"}'
        assert found["squares"].value == "size=1 {{first:3, second:9}}"
        assert found["bytes"].value == r'"a\x00b\x01\xff"'
        assert found["text"].value == r'"schön \"x\"\n"'


@_lldb_specs
async def test_rusts_values_are_as_readable_after_an_attach(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    process = await asyncio.create_subprocess_exec(
        build_debuggee("expressions.rs"), "wait", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        async with drive_backend(adapter_spec) as one:
            target = AttachTarget(process.pid, str(tmp_path), dict(os.environ), pause=True)
            await one.backend.attach(target)
            await one.backend.run_program()
            frames = await one.frames(await one.seen.next(Stopped))
            (work,) = [frame for frame in frames if frame.function.endswith("::work")]
            found = await one.locals(work)
            assert found["words"].value == 'size=2 {"one", "two"}'
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


CPP_HOLDERS = {
    "some": "std::optional(42)",
    "none": "std::optional(empty)",
    "op": 'std::optional({x:1, y:2.5, name:"pt"})',
    "v": 'std::variant("hello")',
    "vi": "std::variant(7)",
    "a": "std::any(5)",
    "ae": "std::any(empty)",
    "sv": r'"a view of text\xff"',
    "un": "nullptr",
    "t": '(1, "tuple", 2.5)',
    "arr": "size=3 {1, 2, 3}",
    "at": "9",
    "u16": 'u"u16 té"',
}
RUST_HOLDERS = {
    "bm": 'size=2 {("one", 1), ("two", 2)}',
    "big": "size=40 {(0, 0), (1, 1), (2, 4), (3, 9), (4, 16), ...}",
    "bs": "size=3 {1, 2, 3}",
    "rc": 'strong=2, weak=1 {x:1, name:"rc"}',
    "arc": 'strong=1, weak=0 Mutex({x:2, name:"arc"})',
    "rw": "RwLock(5)",
    "cell": "Cell(4)",
    "rcell": "borrow=0 size=3 {1, 2, 3}",
    "rrc": 'strong=1, weak=0 borrow=0 {x:3, name:"rrc"}',
    "bs2": '"boxed"',
    "arr": "{1, 2, 3}",
}


@_lldb_specs
async def test_what_a_value_of_the_standard_library_holds_is_shown(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(
            native_program("standard.cpp")(Path()), stop_at_marker("standard.cpp")
        )
        found = await one.locals(await one.frame(stop))
        assert {name: found[name].value for name in CPP_HOLDERS} == CPP_HOLDERS
        for name in ("up", "sp", "sp2", "wp"):
            assert found[name].value.endswith(f'name:"{name[:2].replace("w", "s")}"}}')
        assert re.fullmatch(r"0x[0-9a-f]+ std::optional\(42\)", found["to_some"].value)
        assert found["to_none"].value in {"0x0", "<null>"}


@_lldb_specs
async def test_what_a_collection_or_a_cell_of_rust_holds_is_shown(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(
            native_program("collections.rs")(Path()), stop_at_marker("collections.rs")
        )
        found = await one.locals(await one.frame(stop))
        assert {name: found[name].value for name in RUST_HOLDERS} == RUST_HOLDERS
        entries = await one.backend.read_variables(found["big"].handle, start=38, count=2)
        assert [(entry.name, entry.value) for entry in entries] == [
            ("[38]", "1444"),
            ("[39]", "1521"),
        ]
