"""Generates programs whose functions take and return values of many types."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_C_TYPES = {
    "schar": ("signed char", ["-5", "100", "-128"]),
    "uchar": ("unsigned char", ["5", "200", "255"]),
    "short": ("short", ["-300", "32000", "7"]),
    "ushort": ("unsigned short", ["300", "65000", "7"]),
    "int": ("int", ["-70000", "12", "2000000000"]),
    "uint": ("unsigned", ["70000", "4000000000u", "12"]),
    "long": ("long", ["-5000000000", "12", "7000000000"]),
    "ulong": ("unsigned long", ["5000000000", "18000000000000000000ul", "1"]),
    "bool": ("_Bool", ["1", "0", "1"]),
    "float": ("float", ["1.5f", "-2.25f", "1000.0f"]),
    "double": ("double", ["2.5", "-0.125", "1e100"]),
    "ldouble": ("long double", ["2.5L", "-0.125L", "3.0L"]),
    "wide": ("__int128", ["-9", "((__int128)1 << 70) + 3", "5"]),
    "color": ("enum color", ["(enum color)0", "(enum color)1", "(enum color)2"]),
    "pointer": ("void *", ["(void *)0x1234", "0", "(void *)0xffff5678"]),
    "text": ("const char *", ['"one"', '"two"', '"three"']),
    "s_ii": ("struct s_ii", ["{1, -2}", "{3, 4}", "{-5, 6}"]),
    "s_ll": ("struct s_ll", ["{1, -2}", "{5000000000, 4}", "{-5, 6}"]),
    "s_dd": ("struct s_dd", ["{1.5, -2}", "{3, 4.25}", "{-5, 6}"]),
    "s_ff": ("struct s_ff", ["{1.5f, -2}", "{3, 4.25f}", "{-5, 6}"]),
    "s_if": ("struct s_if", ["{1, -2.5f}", "{3, 4}", "{-5, 6}"]),
    "s_ld": ("struct s_ld", ["{1, -2.5}", "{3, 4}", "{-5, 6}"]),
    "s_dl": ("struct s_dl", ["{1.5, -2}", "{3, 4}", "{-5, 6}"]),
    "s_c3": ("struct s_c3", ["{{1, 2, 3}}", "{{4, 5, 6}}", "{{-7, 8, 9}}"]),
    "s_csi": ("struct s_csi", ["{1, -2, 3}", "{4, 5, 6}", "{-7, 8, 9}"]),
    "s_lll": ("struct s_lll", ["{{1, -2, 3}}", "{{4, 5, 6}}", "{{-7, 8, 9}}"]),
    "s_iii": ("struct s_iii", ["{{1, -2, 3}}", "{{4, 5, 6}}", "{{-7, 8, 9}}"]),
    "s_fff": ("struct s_fff", ["{{1, -2, 3}}", "{{4, 5, 6}}", "{{-7, 8, 9}}"]),
    "s_x": ("struct s_x", ["{1.5L}", "{2.5L}", "{-3.5L}"]),
    "s_c": ("struct s_c", ["{1}", "{2}", "{-3}"]),
    "u_if": ("union u_if", ["{1}", "{70000}", "{-3}"]),
    "p_ii": ("struct s_ii *", ["&v_s_ii_0", "&v_s_ii_1", "&v_s_ii_2"]),
}
_C_HEAD = """
enum color { red, green, blue };
struct s_ii { int a, b; };
struct s_ll { long a, b; };
struct s_dd { double a, b; };
struct s_ff { float a, b; };
struct s_if { int a; float b; };
struct s_ld { long a; double b; };
struct s_dl { double a; long b; };
struct s_c3 { signed char a[3]; };
struct s_csi { signed char a; short b; int c; };
struct s_lll { long a[3]; };
struct s_iii { int a[3]; };
struct s_fff { float a[3]; };
struct s_x { long double a; };
struct s_c { signed char a; };
union u_if { int a; float b; };
extern volatile long sink;
void take(const void *p);
"""
_CPP_TYPES = {
    "r_int": ("int &", ["v_int_0", "v_int_1", "v_int_2"]),
    "r_ii": ("const struct s_ii &", ["v_s_ii_0", "v_s_ii_1", "v_s_ii_2"]),
    "own": ("Own", ["Own(1, 2)", "Own(-3, 4)", "Own(5, 6)"]),
    "string": ("std::string", ['"short"', '"a longer text than fits in itself"', '""']),
    "vector": ("std::vector<int>", ["{1, 2, 3}", "{}", "{4}"]),
    "map": ("std::map<int, int>", ["{{1, 2}}", "{}", "{{3, 4}, {5, 6}}"]),
    "shared": ("std::shared_ptr<int>", [
        "std::make_shared<int>(1)", "nullptr", "std::make_shared<int>(3)",
    ]),
}  # fmt: skip
_CPP_HEAD = """
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Own {
  int a; long b;
  Own(int a, long b) : a(a), b(b) {}
  Own(const Own &o) : a(o.a), b(o.b) { take(this); }
  ~Own() { take(this); }
};
struct Host { int base; };
"""
_RUST_TYPES = {
    "i8": ("i8", ["-5", "100", "-128"]),
    "u16": ("u16", ["300", "65000", "7"]),
    "i32": ("i32", ["-70000", "12", "2000000000"]),
    "u32": ("u32", ["70000", "4000000000", "12"]),
    "i64": ("i64", ["-5000000000", "12", "7"]),
    "u64": ("u64", ["5000000000", "18000000000000000000", "1"]),
    "i128": ("i128", ["-9", "(1 << 70) + 3", "5"]),
    "u128": ("u128", ["9", "(1 << 100) + 3", "5"]),
    "bool": ("bool", ["true", "false", "true"]),
    "char": ("char", ["'a'", "'é'", "'z'"]),
    "f32": ("f32", ["1.5", "-2.25", "1000.0"]),
    "f64": ("f64", ["2.5", "-0.125", "1e100"]),
    "refer": ("&'static i32", ["&ONE", "&TWO", "&ONE"]),
    "text": ("&'static str", ['"one"', '"three"', '""']),
    "p_uu": ("(u32, u32)", ["(1, 2)", "(3, 4)", "(5, 6)"]),
    "p_ll": ("(u64, u64)", ["(1, 2)", "(3, 4)", "(5, 6)"]),
    "p_dd": ("(f64, f64)", ["(1.5, 2.0)", "(3.0, 4.0)", "(5.0, 6.0)"]),
    "p_cl": ("(u8, i64)", ["(1, 2)", "(3, -4)", "(5, 6)"]),
    "a_c4": ("[u8; 4]", ["[1, 2, 3, 4]", "[5, 6, 7, 8]", "[9, 8, 7, 6]"]),
    "a_i3": ("[i32; 3]", ["[1, -2, 3]", "[5, 6, 7]", "[9, 8, 7]"]),
    "a_d2": ("[f64; 2]", ["[1.5, -2.0]", "[5.0, 6.0]", "[9.0, 8.0]"]),
    "s_il": ("Small", ["Small { a: 1, b: -2 }", "Small { a: 3, b: 4 }", "Small { a: -5, b: 6 }"]),
    "s_lll": ("Large", [
        "Large { a: 1, b: 2.5, c: 3 }", "Large { a: -1, b: 0.5, c: 4 }",
        "Large { a: 9, b: 8.5, c: 7 }",
    ]),
    "o_u32": ("Option<u32>", ["Some(5)", "None", "Some(70000)"]),
    "o_u64": ("Option<u64>", ["Some(5)", "None", "Some(70000)"]),
    "o_ref": ("Option<&'static i32>", ["Some(&ONE)", "None", "Some(&TWO)"]),
    "kind": ("Kind", ["Kind::A", "Kind::B", "Kind::C"]),
    "new": ("Newtype", ["Newtype(1.5)", "Newtype(-2.0)", "Newtype(8.0)"]),
    "string": ("String", ['String::from("abc")', "String::new()", 'String::from("other")']),
    "vec": ("Vec<i32>", ["vec![1, 2]", "Vec::new()", "vec![4]"]),
    "boxed": ("Box<i32>", ["Box::new(1)", "Box::new(2)", "Box::new(3)"]),
}  # fmt: skip
_RUST_HEAD = """
#![allow(dead_code, unused, static_mut_refs)]
use std::hint::black_box;
static ONE: i32 = 1;
static TWO: i32 = 2;
#[derive(Clone, Copy)] struct Small { a: i32, b: i64 }
#[derive(Clone, Copy)] struct Large { a: i64, b: f64, c: i16 }
#[derive(Clone, Copy)] enum Kind { A, B, C }
#[derive(Clone, Copy)] struct Newtype(f64);
#[inline(never)] fn take<T>(one: &T) { black_box(one); }
"""
_RUST_OWNED = frozenset({"string", "vec", "boxed"})
# Values that point to what belongs to them: a copy's pointers are others.
POINTING = frozenset({"string", "vector", "map", "shared", "vec", "boxed", "own"})
_NUMBERS = frozenset({
    "schar", "uchar", "short", "int", "uint", "long", "float", "double", "bool",
})  # fmt: skip
_COUNT_MAX = 11


@dataclass
class Signature:
    """One function: the types of its parameters, and the global that each call gives them."""

    name: str
    types: list[str]
    returned: str | None
    # Of each call, of each parameter, the number of the global, or None where it is a constant.
    calls: list[list[int | None]] = field(default_factory=list)


@dataclass
class GeneratedProgram:
    """A generated program."""

    path: Path
    functions: list[Signature]


def choose_signatures(language: str, count: int, seed: int) -> list[Signature]:
    """Choose the parameters of functions."""
    dice = random.Random(f"{language} {seed}")
    kinds = list(types_of(language))
    found = []
    for number in range(count):
        types = [
            dice.choice(kinds) for _ in range(dice.choice([0, 1, 1, 2, 3, 4, 5, 7, _COUNT_MAX]))
        ]
        own = [one for one in kinds if one not in {"r_int", "r_ii"}]
        returned = dice.choice([None, *own, *own[-2:]])
        one = Signature(f"f{number}", types, returned)
        is_fixed = [dice.random() < 0.15 and literal_text(language, kind) for kind in types]
        for call in range(2):
            one.calls.append([
                None if is_fixed[at] else (number + at + call) % 3 for at in range(len(types))
            ])  # fmt: skip
        found.append(one)
    return found


def types_of(language: str) -> dict[str, tuple[str, list[str]]]:
    if language == "rs":
        return _RUST_TYPES
    return _C_TYPES if language == "c" else {**_C_TYPES, **_CPP_TYPES}


def literal_text(language: str, kind: str) -> bool:
    names = {"c": {"int", "long", "double"}, "cpp": {"int", "long", "double"}}
    return kind in names.get(language, {"i32", "f64"})


def build_program(
    language: str, flags: list[str], count: int, seed: int, folder: Path
) -> GeneratedProgram:
    """Write and build a program."""
    functions = choose_signatures(language, count, seed)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "program"
    make = write_rust if language == "rs" else write_c
    sources = make(language, functions, random.Random(f"{language} body {seed}"), folder)
    command = {"c": ["gcc", "-no-pie"], "cpp": ["g++", "-no-pie", "-std=c++17"]}.get(
        language, ["rustc", "--edition=2021", "-C", "relocation-model=static"]
    )
    if flags and flags[0].startswith("clang"):
        command[0], *flags = flags
    argv = [*command, "-g", *flags, *map(str, sources), "-o", str(program)]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=600, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr[:4000]
    return GeneratedProgram(program, functions)


_C_SECOND = """#include "head.h"
volatile long sink;
__attribute__((noinline)) void take(const void *p) { asm volatile("" :: "r"(p) : "memory"); }
__attribute__((noinline, used)) void ready(void) { sink++; }
"""


def write_c(
    language: str, functions: list[Signature], dice: random.Random, folder: Path
) -> list[Path]:
    head = _C_HEAD + (_CPP_HEAD if language == "cpp" else "")
    texts = {kind: text for kind, (text, _) in types_of(language).items()}
    if language == "cpp":
        head = head.replace("_Bool", "bool")
        texts["bool"] = "bool"
    first, second = ['#include "head.h"'], [_C_SECOND]
    for kind, (_, values) in types_of(language).items():
        for number, value in enumerate(values) if not kind.startswith("r_") else ():
            head += f"extern {texts[kind]} v_{kind}_{number};\n"
            second.append(f"__attribute__((used)) {texts[kind]} v_{kind}_{number} = {value};")
    calls: list[str] = []
    for number, one in enumerate(functions):
        has_dots = language == "c" and bool(one.types) and dice.random() < 0.1
        declared, body = write_c_function(language, number, one, texts, dice, has_dots=has_dots)
        name = one.name
        if language == "cpp" and dice.random() < 0.2:
            inner = f"__attribute__((noinline)) {declared} {{ sink += base; {body} }}"
            second.append(f"struct H{number} : Host {{ {inner} }} h{number};")
            name = f"h{number}.{name}"
        elif dice.random() < 0.6:
            second.append(f"static __attribute__((noinline)) {declared} {{ {body} }}")
        else:
            head += f"{declared};\n"
            place = first if dice.random() < 0.5 else second
            place.append(f"__attribute__((noinline)) {declared}\n{{\n  {body}\n}}")
        for values in one.calls:
            given = [
                f"v_{value_text(kind)}_{which}" if which is not None else constant_text(kind)
                for kind, which in zip(one.types, values, strict=True)
            ]
            given += ["1", "2.5"] if has_dots else []
            is_used = one.returned in _NUMBERS and number % 2 == 0
            calls.append(f"{'sink += (long)' if is_used else ''}{name}({', '.join(given)});")
    whole = " ".join(calls)
    second.append(f"int main(void) {{ take((const void *)&sink); ready(); {whole} return 0; }}")
    (folder / "head.h").write_text("#pragma once\n" + head)
    found = []
    for name, lines in (("first", first), ("second", second)):
        path = folder / f"{name}.{language}"
        path.write_text("\n".join(lines) + "\n")
        found.append(path)
    return found


def write_c_function(
    language: str,
    number: int,
    one: Signature,
    texts: dict[str, str],
    dice: random.Random,
    *,
    has_dots: bool,
) -> tuple[str, str]:
    """Write a function: what declares it, and its statements."""
    parameters = [f"{texts[kind]} a{at}" for at, kind in enumerate(one.types)]
    parameters += ["..."] if has_dots else []
    none = "void" if language == "c" else ""
    result = texts[one.returned] if one.returned else "void"
    body = [c_use_text(kind, at, dice) for at, kind in enumerate(one.types)]
    dice.shuffle(body)
    body.append(f"return v_{one.returned}_{number % 3};" if one.returned else "sink++;")
    return f"{result} {one.name}({', '.join(parameters) or none})", " ".join(body)


def value_text(kind: str) -> str:
    return {"r_int": "int", "r_ii": "s_ii"}.get(kind, kind)


def constant_text(kind: str) -> str:
    return {"double": "7.5", "f64": "7.5"}.get(kind, "42")


def c_use_text(kind: str, at: int, dice: random.Random) -> str:
    roll = dice.random()
    if roll < 0.2:
        return ""
    if roll < 0.35 or kind in {"string", "vector", "map", "shared", "own"}:
        return f"take(&a{at});"
    if kind.startswith("p_"):
        return f"sink += a{at}->a;"
    if kind.startswith(("s_", "u_", "r_ii")):
        deep = "[0]" if kind in {"s_c3", "s_lll", "s_iii", "s_fff"} else ""
        return f"sink += (long)a{at}.a{deep};"
    return f"sink += (long)a{at};"


def write_rust(
    language: str, functions: list[Signature], dice: random.Random, folder: Path
) -> list[Path]:
    lines = [_RUST_HEAD]
    held: list[str] = []
    for kind, (text, values) in _RUST_TYPES.items():
        for number, value in enumerate(values):
            if kind in _RUST_OWNED:
                continue
            lines.append(f"#[no_mangle] static mut V_{kind}_{number}: {text} = {value};")
            held.append(f"black_box(&raw mut V_{kind}_{number});")
    calls = []
    for number, one in enumerate(functions):
        parameters = ", ".join(
            f"a{at}: {_RUST_TYPES[kind][0]}" for at, kind in enumerate(one.types)
        )
        body = [rust_use_text(kind, at, dice) for at, kind in enumerate(one.types)]
        dice.shuffle(body)
        result, value = "", ""
        if one.returned:
            result = f" -> {_RUST_TYPES[one.returned][0]}"
            value = rust_value_text(one.returned, number % 3)
        lines.append(
            f"#[inline(never)] fn {one.name}({parameters}){result} {{\n"
            f"  unsafe {{ {' '.join(body)} }}\n  unsafe {{ {value} }}\n}}"
        )
        for values in one.calls:
            given = [
                rust_value_text(kind, which) if which is not None else constant_text(kind)
                for kind, which in zip(one.types, values, strict=True)
            ]
            call = f"{one.name}({', '.join(given)})"
            calls.append(f"black_box({call});" if number % 2 == 0 else f"let _ = {call};")
    lines.append("#[no_mangle] #[inline(never)] fn ready() { black_box(0); }")
    lines.append(f"fn main() {{ unsafe {{ {' '.join(held)} ready(); {' '.join(calls)} }} }}")
    path = folder / "program.rs"
    path.write_text("\n".join(lines) + "\n")
    return [path]


def rust_value_text(kind: str, number: int) -> str:
    if kind in _RUST_OWNED:
        return _RUST_TYPES[kind][1][number]
    return f"V_{kind}_{number}"


def rust_use_text(kind: str, at: int, dice: random.Random) -> str:
    roll = dice.random()
    if roll < 0.2:
        return ""
    if roll < 0.5 and kind not in _RUST_OWNED:
        return f"black_box(a{at});"
    return f"take(&a{at});"
