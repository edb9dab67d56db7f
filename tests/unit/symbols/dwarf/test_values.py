"""Values are formatted as by the other backends, and never raise."""

from __future__ import annotations

import dataclasses

import pytest

import dwarf_stops
from debugger.symbols.dwarf import value_format
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.scope_variables import VariableRole
from debugger.symbols.dwarf.typed_values import ValueMemory
from debugger.symbols.dwarf.unwinding import frame_variables, variable_value
from debugger.symbols.dwarf.value_format import FormatBounds

pytestmark = pytest.mark.adapter("gdb-cli")

OUTLINE = "size=3 {{x:0, y:0}, {x:4, y:0}, {x:0, y:3}}"
TRIANGLE = f'{{name:"triangle", corner:{{x:1, y:2}}, outline:{OUTLINE}}}'


@dataclasses.dataclass
class Shown:
    """The variables of the innermost frame, by name."""

    stop: dwarf_stops.GdbStop

    def __post_init__(self):
        self.frame = self.stop.own_stack()[0]
        self.variables = {
            one.name: one for one in frame_variables(self.frame) if not one.is_shadowed
        }

    def value(self, name):
        return variable_value(self.variables[name], self.frame, self.stop.memory)

    def text(self, name, bounds=value_format.DEFAULT):
        return value_format.format_value(self.value(name), self.stop.memory, bounds)

    def children(self, name, *rest):
        memory = self.stop.memory
        found = value_format.list_children(self.value(name), memory, *rest)
        return {one.name: value_format.format_value(one.value, memory) for one in found}


@pytest.fixture(scope="module")
def cpp(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    return Shown(dwarf_stops.stop_at_marker("shapes.cpp", 0, "shown", folder))


@pytest.fixture(scope="module")
def rust(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    return Shown(dwarf_stops.stop_at_marker("shapes.rs", 0, "shown", folder, last="shapes::main"))


@pytest.fixture(scope="module")
def containers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    return Shown(dwarf_stops.stop_at_marker("values.cpp", 0, "ready", folder))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain", "two"),
        ("both", "one | four"),
        ("level", "Level::high"),
        ("ratio", "0.5"),
        ("third", "0.1"),
        ("wide", "2.5"),
        ("yes", "true"),
        ("small", "-5 '\\xfb'"),
        ("nothing", "0x0"),
        ("wild", "0x10"),
        ("words", '"café \\"x\\"\\n"'),
        ("letters", '"abc"'),
        ("grid", "{{1, 2, 3}, {4, 5, 6}}"),
        ("either", "{whole:1065353216, part:1}"),
        ("pair", "{x:1.5, y:-2.25}"),
        ("maybe", "std::optional(4)"),
        ("none", "std::optional(empty)"),
        ("three", "size=3 {7, 8, 9}"),
        ("some", "size=3 {1, 2, 3}"),
        ("owned", "std::unique_ptr(6)"),
        ("box", "{held:20}"),
        ("value", "2"),
        ("calls", "3"),
    ],
)
def test_a_cpp_value_is_written(cpp, name, text):
    assert cpp.text(name) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("numbers", "size=200 {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, …}"),
        ("ages", 'size=3 {["ada"]:36, ["grace"]:45, ["linus"]:21}'),
        ("text", '"hello"'),
        ("shape", TRIANGLE),
        ("nothing", "std::unique_ptr(empty)"),
        ("owned", "std::unique_ptr({x:7, y:8})"),
        ("colour", "Colour::green"),
    ],
)
def test_a_container_is_written(containers, name, text):
    assert containers.text(name) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("animal", 'Dog{legs:4, name:"rex"}'),
        ("other", "Ghost"),
        ("boxed", "Box(77)"),
        ("pair", '(-3, "pair")'),
        ("maybe", "Some(Box(9))"),
        ("nothing", "None"),
        ("names", 'size=2 {"a", "bc"}'),
        ("tuple", "(1, 2.5, 120 'x', true)"),
        ("array", "{1, -2, 3}"),
        ("failed", 'Err("bad")'),
        ("value", '"inner"'),
    ],
)
def test_a_rust_value_is_written(rust, name, text):
    assert rust.text(name) == text


def test_a_pointer_to_a_function_names_it(cpp):
    assert cpp.text("call").endswith(" <callback>")


def test_what_a_reference_names_is_shown(cpp):
    assert cpp.text("dog").endswith('legs:4, sound:"woof"}, name:"rex"}')


def test_bit_fields_are_read_through_a_pointer(cpp):
    assert cpp.children("flags") == {"first": "5", "second": "-7", "third": "549755813888"}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("dog", VariableRole.ARGUMENT),
        ("calls", VariableRole.STATIC),
        ("value", VariableRole.LOCAL),
    ],
)
def test_a_variable_is_told_from_an_argument_and_a_static(cpp, name, role):
    assert cpp.variables[name].role is role


def test_an_outer_variable_of_the_same_name_is_shadowed(cpp):
    found = [one for one in frame_variables(cpp.frame) if one.name == "value"]
    assert [one.is_shadowed for one in found] == [True, False]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zoo::visitors", "12"),
        ("visitors", "12"),
        ("::zoo::ticket", "-3"),
        ("Dog::count", "5"),
    ],
)
def test_a_global_is_found_by_its_last_parts(cpp, name, text):
    found = cpp.frame.module.image.scopes.global_named(name)
    held = variable_value(found, cpp.frame, cpp.stop.memory)
    assert value_format.format_value(held, cpp.stop.memory) == text
    assert found.role is VariableRole.GLOBAL


def test_a_global_that_is_nowhere_is_none(cpp):
    assert cpp.frame.module.image.scopes.global_named("nowhere") is None


def test_the_globals_of_a_unit_are_listed(cpp):
    own = cpp.frame.lookup - cpp.frame.module.load_bias
    names = {one.name for one in cpp.frame.module.image.scopes.globals_of(own)}
    assert {"visitors", "ticket", "count"} <= names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("words", "const char *"),
        ("grid", "int [2][3]"),
        ("call", "Callback"),
        ("dog", "zoo::Dog &"),
        ("flags", "const Flags *"),
        ("box", "Box<int>"),
    ],
)
def test_a_type_is_named_as_it_is_written(cpp, name, kind):
    assert cpp.variables[name].type.name == kind


def test_the_children_of_a_container_are_given_from_anywhere(containers):
    assert containers.children("numbers", 198) == {"[198]": "39204", "[199]": "39601"}
    assert containers.children("ages", 1, 1) == {'["grace"]': "45"}


def test_a_recursive_value_ends(containers):
    assert containers.text("node").startswith("{value:1, next:0x")
    assert containers.children("node")["value"] == "1"


def test_what_is_written_is_bounded(containers):
    short = FormatBounds(depth=1, elements=2, text=3, letters=30)
    assert containers.text("numbers", short) == "size=200 {0, 1, …}"
    assert containers.text("text", short) == '"hel"…'
    assert containers.text("shape", short) == '{name:"tri"…, corner:{…}, outl…'


@pytest.mark.parametrize("kept", [0, 1, 2, 5, 20])
def test_memory_that_cannot_be_read_is_said_and_never_raised(containers, rust, cpp, kept):
    for shown in (containers, rust, cpp):
        for name in shown.variables:
            held = shown.value(name)
            reads = iter(range(kept))

            def read(address, size, reads=reads, whole=shown.stop.memory.read):
                if next(reads, None) is None:
                    raise UnreadableMemory(address)
                return whole(address, size)

            memory = ValueMemory(read)
            text = value_format.format_value(held, memory)
            assert text
            if not kept and held.address is not None and held.type.size:
                # An empty structure is written without reading.
                assert "<unreadable 0x" in text or not any(map(str.isdigit, text))
            value_format.list_children(held, memory)


def test_garbage_in_memory_is_shown_within_bounds(containers, rust, cpp):
    for shown in (containers, rust, cpp):
        for byte in (b"\0", b"\xff", b"\x41"):
            memory = ValueMemory(lambda _, size, byte=byte: byte * min(size, 1 << 20))
            for name in shown.variables:
                held = shown.value(name)
                assert (
                    len(value_format.format_value(held, memory)) <= value_format.DEFAULT.letters + 1
                )
                assert len(value_format.list_children(held, memory, 0, 50)) <= 50
