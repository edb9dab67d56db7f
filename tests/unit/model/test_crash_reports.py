"""The runtimes' own reports of an uncaught error, of processes that no debugger sees."""

from __future__ import annotations

import pytest

from debugger.model.crash_reports import parse_report

GO = """kid begins
panic: runtime error: integer divide by zero

goroutine 1 [running]:
main.work(...)
\t/src/par.go:12
main.(*Cart).add(0xc000012345, {0x1, 0x2})
\t/src/cart.go:19 +0x3e
exit status 2"""
RUST = """
thread 'main' (5330) panicked at src/par.rs:2:70:
attempt to divide by zero
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/5980/library/std/src/panicking.rs:689:5
   1: par::work
             at ./src/par.rs:2:70
   2: par::main
             at ./src/par.rs:5:44
note: Some details are omitted"""
RUST_ALONE = """thread 'worker' panicked at src/par.rs:9:5:
no tea
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""
RUBY = """kid.rb:3:in `/': divided by 0 (ZeroDivisionError)
\tfrom kid.rb:3:in `work'
\tfrom kid.rb:6:in `<main>'"""
RUBY_34 = """/src/kid.rb:3:in 'Shop#work': no tea (Shop::Empty)
\tfrom /src/kid.rb:6:in '<main>'"""
PHP = """PHP Fatal error:  Uncaught DivisionByZeroError: Division by zero in /src/kid.php:5
Stack trace:
#0 /src/kid.php(5): intdiv()
#1 /src/kid.php(9): Shop->work(5)
#2 {main}
  thrown in /src/kid.php on line 5"""
RUBY_FILE = """/src/kid.rb:2: warning: x is unused
/src/kid.rb:3: syntax error, unexpected integer literal, expecting ')'
  puts 3 3
       ^
/src/kid.rb:9: syntax error, unexpected end-of-input"""
RUBY_CONSTANT = """kid.rb:2: dynamic constant assignment
  A = 1
  ^"""
RUBY_NIL = "kid.rb:1: Can't assign to nil\nnil = 3\n^~~"
RUBY_LETTER = "kid.rb:1: invalid multibyte char (UTF-8)"
RUBY_ENCODING = "kid.rb:1: unknown encoding name: no (ArgumentError)"
UNMATCHED = "end pattern with unmatched parenthesis"
RUBY_PATTERN = f"kid.rb:1: {UNMATCHED}: /a(/"
RUBY_FILE_34 = """kid.rb: --> kid.rb
kid.rb:3: syntax errors found (SyntaxError)
  1 | x = 1
> 3 |   puts 3 3
    |         ^ unexpected integer, ignoring it"""
PHP_FILE = """PHP Parse error:  syntax error, unexpected token "{" in /src/kid.php on line 3"""
PHP_TWICE = (
    "Fatal error: Cannot redeclare f() (previously declared in /src/kid.php:2) "
    "in /src/kid.php on line 3"
)
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no tea
\tat app/shop.Kid.work(Kid.java:2)
\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
\tat shop.Kid.main(Kid.java:3)
Caused by: java.io.IOException: gone"""


@pytest.mark.parametrize(
    ("text", "raised", "frames"),
    [
        (
            GO,
            ("panic", "runtime error: integer divide by zero"),
            ["main.work /src/par.go:12", "main.(*Cart).add /src/cart.go:19"],
        ),
        (
            RUST,
            ("panic", "attempt to divide by zero"),
            ["par::work src/par.rs:2", "par::main src/par.rs:5"],
        ),
        (RUST_ALONE, ("panic", "no tea"), [" src/par.rs:9"]),
        (RUBY, ("ZeroDivisionError", "divided by 0"), ["work kid.rb:3", "<main> kid.rb:6"]),
        (
            RUBY_34,
            ("Shop::Empty", "no tea"),
            ["Shop#work /src/kid.rb:3", "<main> /src/kid.rb:6"],
        ),
        (
            PHP,
            ("DivisionByZeroError", "Division by zero"),
            ["Shop->work /src/kid.php:5", "{main} /src/kid.php:9"],
        ),
        (
            RUBY_FILE,
            ("SyntaxError", "syntax error, unexpected integer literal, expecting ')'"),
            [" /src/kid.rb:3"],
        ),
        (RUBY_CONSTANT, ("SyntaxError", "dynamic constant assignment"), [" kid.rb:2"]),
        (RUBY_NIL, ("SyntaxError", "Can't assign to nil"), [" kid.rb:1"]),
        (RUBY_LETTER, ("SyntaxError", "invalid multibyte char (UTF-8)"), [" kid.rb:1"]),
        (RUBY_ENCODING, ("ArgumentError", "unknown encoding name: no"), [" kid.rb:1"]),
        (RUBY_PATTERN, ("SyntaxError", f"{UNMATCHED}: /a(/"), [" kid.rb:1"]),
        (RUBY_FILE_34, ("SyntaxError", "unexpected integer, ignoring it"), [" kid.rb:3"]),
        (PHP_FILE, ("Parse error", 'syntax error, unexpected token "{"'), [" /src/kid.php:3"]),
        (
            PHP_TWICE,
            ("Fatal error", "Cannot redeclare f() (previously declared in /src/kid.php:2)"),
            [" /src/kid.php:3"],
        ),
        (
            JAVA,
            ("java.lang.IllegalStateException", "no tea"),
            [
                "shop.Kid.work Kid.java:2",
                "java.util.ArrayList.forEach ArrayList.java:1511",
                "shop.Kid.main Kid.java:3",
            ],
        ),
    ],
)
def test_the_last_report_of_an_output_has_the_error_and_its_frames(text, raised, frames):
    found = parse_report(text.splitlines())
    assert found is not None
    assert (found.type, found.message) == raised
    assert [f"{one.function} {one.file}:{one.line}" for one in found.frames] == frames


@pytest.mark.parametrize(
    "text",
    [
        "",
        "panic: at the disco",
        "goroutine 1 [running]:\nmain.main()\n\t/src/par.go:12",
        "thread 'main' panicked at nothing that is a place",
        'Exception in thread "main" java.lang.Error: no frame',
        "kid.rb:3: warning: unused (Shop)",
        "kid.rb:3: no tea\nand no cake",
        "kid.rb:3: warning: unused\n  x = 1\n  ^",
        "PHP Warning:  no tea in /src/kid.php on line 3",
    ],
)
def test_what_only_looks_like_a_report_is_none(text):
    assert parse_report(text.splitlines()) is None
