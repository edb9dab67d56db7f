"""Expressions and memory that cover the whole expression language."""

from __future__ import annotations

from debugger.backends.inprocess.expressions.location_nodes import (
    AbsentValue,
    ComputedValue,
    RegisterValue,
    ScopeVariable,
    StoredValue,
)
from debugger.backends.inprocess.expressions.nodes import (
    BASIC,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    MachineType,
    RecordField,
    RegisterNode,
    add_offset,
    array_of,
    pointer_to,
)
from expression_runner import NOT_THERE, ExpressionMemory, pack_numbers


def record_type(
    name: str, size: int, *fields: RecordField, parameters: tuple[ExpressionType, ...] = ()
) -> ExpressionType:
    return ExpressionType(
        name, ExpressionKind.RECORD, size, fields=lambda: fields, parameters=lambda: parameters
    )


def type_of(name: str, kind: ExpressionType, offset: int, **more: object) -> RecordField:
    return RecordField(name, lambda: kind, offset, **more)


INNER = record_type("Inner", 8, type_of("x", INT, 0), type_of("y", INT, 4))
BASE = record_type("Base", 4, type_of("kept", INT, 0))
EITHER = record_type("", 4, type_of("whole", INT, 0), type_of("real", FLOAT, 0))
COLOUR = ExpressionType("Colour", ExpressionKind.ENUM, 4, enumerators={"Red": 0, "Green": 5})
NODE = record_type(
    "Node", 64,
    type_of("Base", BASE, 0, is_base=True),
    type_of("value", LONG, 8),
    type_of("in", INNER, 16),
    RecordField("next", lambda: pointer_to(NODE), 24),
    type_of("low", UNSIGNED, 32, bits=(0, 3)),
    type_of("high", INT, 32, bits=(3, 9)),
    type_of("", EITHER, 36),
    type_of("colour", COLOUR, 40),
    type_of("letter", CHAR, 44),
    type_of("name", pointer_to(CHAR), 48),
    type_of("far", BASIC["bool"], 56),
)  # fmt: skip
STRING = record_type(
    "std::string", 32,
    type_of("_M_dataplus", record_type("_Alloc_hider", 8, type_of("_M_p", pointer_to(CHAR), 0)), 0),
    type_of("_M_string_length", UNSIGNED_LONG, 8),
)  # fmt: skip
VECTOR = record_type(
    "std::vector<int>", 24,
    type_of("_M_impl", record_type("_Vector_impl", 24, type_of("_M_start", pointer_to(INT), 0),
                         type_of("_M_finish", pointer_to(INT), 8)), 0),
)  # fmt: skip
STR = record_type(
    "&str", 16, type_of("data_ptr", pointer_to(BASIC["u8"]), 0), type_of("length", UNSIGNED_LONG, 8)
)
SLICE = record_type(
    "&[i32]", 16, type_of("data_ptr", pointer_to(INT), 0), type_of("length", UNSIGNED_LONG, 8)
)
RUST_VEC = record_type(
    "alloc::vec::Vec<u16>", 24,
    type_of("buf", record_type("RawVec", 16, type_of("cap", UNSIGNED_LONG, 0),
                     type_of("ptr", pointer_to(BASIC["u8"]), 8)), 0),
    type_of("len", UNSIGNED_LONG, 16),
    parameters=(BASIC["u16"],),
)  # fmt: skip
RUST_STRING = record_type("alloc::string::String", 24, type_of("vec", RUST_VEC, 0))


def sample_memory() -> ExpressionMemory:
    """Make the memory of a program that has one of each."""
    made = ExpressionMemory()
    name = made.put(b"eve\0")
    long_name = made.put(b"x" * 300 + b"\0")
    zeros = made.put(b"a\0b")
    numbers = made.put(pack_numbers("3i", 10, -20, 30))
    small = made.put(pack_numbers("2H", 7, 65535))
    hello = made.put("grüße".encode())
    bits = 5 | (-100 & 0x1FF) << 3
    last = made.put(pack_numbers("i4xq2iQIf IbxxxQB7x", 8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    first = pack_numbers("i4xq2iQIf", 4, -9, 3, -4, last, bits, 1.5) + pack_numbers(
        "IbxxxQB7x", 5, 113, name, 1
    )
    node = made.variable("node", NODE, first)
    made.variable("p", pointer_to(NODE), pack_numbers("Q", node))
    made.variable(
        "ref",
        ExpressionType("Node &", ExpressionKind.REFERENCE, 8, target=lambda: NODE),
        pack_numbers("Q", node),
    )
    made.variable("i", INT, pack_numbers("i", 2))
    made.variable("j", LONG, pack_numbers("q", -1))
    made.variable("word", pointer_to(CHAR), pack_numbers("Q", name))
    made.variable("long_word", pointer_to(CHAR), pack_numbers("Q", long_name))
    made.variable("bad", pointer_to(CHAR), pack_numbers("Q", NOT_THERE))
    made.variable("wild", pointer_to(INT), pack_numbers("Q", 0xFFFF_8000_0000_0000))
    made.variable("nobody", pointer_to(NODE), pack_numbers("Q", 0))
    made.variable("text", array_of(CHAR, 4), b"eve\0")
    made.variable("full", array_of(CHAR, 3), b"eve")
    made.variable("string", STRING, pack_numbers("QQ", name, 3))
    made.variable("zeros", STRING, pack_numbers("QQ", zeros, 3))
    made.variable("v", VECTOR, pack_numbers("QQQ", numbers, numbers + 12, numbers + 16))
    made.variable("str", STR, pack_numbers("QQ", hello, 7))
    made.variable("slice", SLICE, pack_numbers("QQ", numbers, 2))
    made.variable("vec", RUST_VEC, pack_numbers("QQQ", 4, small, 2))
    made.variable("owned", RUST_STRING, pack_numbers("QQQ", 16, name, 3))
    made.variable(
        "borrowed",
        ExpressionType("&i32", ExpressionKind.POINTER, 8, target=lambda: INT),
        pack_numbers("Q", numbers),
    )
    made.variable("grid", array_of(array_of(INT, 2), 2), pack_numbers("4i", 1, 2, 3, 4))
    made.variable("real", FLOAT, pack_numbers("f", 0.1))
    made.variable("big", UNSIGNED_LONG, pack_numbers("Q", 2**63 + 1))
    made.registers = {
        "rax": 77,
        "rbx": (1 << 64) - 5,
        "xmm0": 0x4004_0000_0000_0000,
        "rbp": node + 128,
    }
    held_in = {
        "in_rax": (INT, RegisterValue("rax")),
        "in_rbx": (INT, RegisterValue("rbx")),
        "in_xmm": (DOUBLE, RegisterValue("xmm0")),
        "computed": (INT, ComputedValue(ConstantNode(41, MachineType.U64))),
        "gone": (INT, AbsentValue("optimized out")),
        "framed": (NODE, StoredValue(add_offset(RegisterNode("rbp", MachineType.U64), -128))),
    }
    for one, (kind, where) in held_in.items():
        made.variables[one] = ScopeVariable(one, kind, where)
    vectors = bytes(160) + made.registers["xmm0"].to_bytes(16, "little")
    made.registers["vectors"] = made.put(vectors)
    made.constants = {"Green": (5, COLOUR), "Colour::Red": (0, COLOUR)}
    made.types = {"Node": NODE, "Colour": COLOUR}
    return made


# A CModule can do these, but not the texts.
CASES = [
    ("node.value", -9), ("p->value", -9), ("p.value", -9), ("ref.value", -9), ("(*p).value", -9),
    ("p->kept", 4), ("p->in.x + p->in.y", -1), ("p->next->value", 2), ("p->next->next == null", 1),
    ("p->low", 5), ("p->high", -100), ("p->whole", 0x3FC00000), ("p->real", 1.5),
    ("p->colour", 5), ("p->colour == Green", 1), ("p->colour != Colour::Red", 1),
    ("p->letter == 'q'", 1), ("p->far", 1), ("p && p->value < 0", 1), ("!nobody", 1),
    ("nobody && nobody->value == 2", 0), ("nobody == NULL || nobody->value", 1),
    ("nobody ? nobody->value : i", 2), ("(Node *)nobody == nullptr", 1),
    ("grid[1][0]", 3), ("grid[i - 1][1]", 4), ("*grid[1]", 3), ("(&node)->value", -9),
    ("&node.in.y == &node.in.x + 1", 1), ("(long)&node == (long)p", 1), ("word[1]", 118),
    ("*word", 101), ("*(word + i)", 101), ("&word[2] - word", 2), ("word < &word[1]", 1),
    ("(&node.in.y)[j]", 3), ("(&node.in.y)[-1]", 3), ("*(&node.in.y - 1)", 3),
    ("framed.value", -9), ("framed.next->value", 2), ("(&node.in.y - i)[1]", 3),
    ("p[j + 1].value", -9), ("(&p->value)[j + 1]", -9),
    ("v[0] + v[1]", -10), ("v[i]", 30), ("v.size()", 3), ("v.empty()", 0), ("slice[1]", -20),
    ("slice.len()", 2), ("vec[1]", 65535), ("vec.len() == 2", 1), ("string[1]", 118),
    ("string.size()", 3), ("str.len()", 7), ("len(grid)", 2), ("*borrowed", 10),
    ("borrowed + 1 == 11", 1), ("in_rax", 77), ("in_rbx", -5), ("in_xmm", 2.5),
    ("computed + 1", 42),
    ("$rax", 77), ("$eax", 77), ("$rbx < 0", 1), ("$rbp != 0", 1), ("big > 5", 1),
    ("sizeof(Node)", 64), ("sizeof(Node *)", 8), ("sizeof gone", 4),
]  # fmt: skip
TEXTS = [
    ('word == "eve"', 1), ('word == "ev"', 0), ('word == "ever"', 0), ('"eve" == word', 1),
    ('word != "adam"', 1), ('word == ""', 0), ('string == "eve"', 1), ('string == "eva"', 0),
    ("string == word", 1), ('zeros == "a\\0b"', 1), ('zeros == "a"', 0), ('text == "eve"', 1),
    ('full == "eve"', 1), ('str == "grüße"', 1), ('str != "grusse"', 1), ('owned == "eve"', 1),
    ("owned == string", 1), ("len(word)", 3), ("len(long_word)", 300), ("len(full)", 3),
    ('len("é")', 2), ('nobody && bad == "x"', 0), ('p->name == "eve"', 1),
    ("zeros.length", 3), ('i == 2 && word == "eve"', 1), ("len(text)", 3),
]  # fmt: skip


FAULTS = [
    ("*bad", "cannot be read"), ("*wild", "cannot be read"), ("nobody->value", "cannot be read"),
    ("p->next->next->value", "cannot be read"), ("v[3]", "an index outside"),
    ("v[j]", "an index outside"),
    ("slice[2]", "an index outside"), ("i / (j + 1)", "division by zero"),
    ("1 << (i + 30)", "a shift"),
    ("(int)1e10", "does not fit"), ("i << j", "a shift"),
]  # fmt: skip
