"""Real Java programs: values, expressions, exceptions, deadlocks, writes, attach, bad input."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data
from conftest import wait_until
from debuggees import PROGRAMS, build_java, find_marker
from debugger.backends.adapters.java import run_adapter
from debugger.backends.adapters.java.run_adapter import SOURCES
from debugger.paths import data_dir
from debugger.system import java_home

pytestmark = pytest.mark.adapter("java")

JAVA = PROGRAMS / "java"
VALUES = {
    "numbers": "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81, …] (200)",
    "grid": "{{1, 2}, {3, 4}}",
    "words": '{"one", null}',
    "ages": '{"ada"=36}',
    "tree": '{"a"=[], "b"=[1, 2]}',
    "many": "{0=0, 1=-1, 2=-2, 3=-3, 4=-4, 5=-5, 6=-6, 7=-7, 8=-8, 9=-9, …} (100001)",
    "tags": '["new"]',
    "queue": "[1, 2]",
    "point": "Values.Point[x=1, y=2]",
    "account": 'Values.Account{owner="ada", balance=100}',
    "color": "GREEN",
    "maybe": 'Optional["yes"]',
    "atomic": "7",
    "price": "12.50",
    "day": "2024-02-29",
    "text": r'"a \"quoted\"\nline"',
    "letter": "'x'",
    "large": "1099511627776",
}
EXPRESSIONS = {
    'ages.get("ada")': "36",
    "numbers.get(3) + primes[1] * 2": "15",
    "point.sum() * 2": "6",
    "total(numbers.subList(0, 3), 1, 2)": "8",
    "account.owner.length() > 2 && !color.equals(Color.RED)": "true",
    'words[0] == "one"': "true",
    "(byte) 300": "44",
    "7 / 2 + 7 % 2 - (1 << 4) + (-8 >>> 28)": "3",
    "1 / 2.0f": "0.5",
    "boxed == 1000": "true",
    "new Point(5, 6).x()": "5",
    'primes.length > 3 ? "many" : "few"': '"many"',
    "Math.max(3, 4L)": "4",
    'String.format("%d-%s", 5, letter)': '"5-x"',
    "new int[] {3, 4}[1]": "4",
    "new Account[] {account, null}.length": "2",  # the program has no array of these
    "(Object) account instanceof Account": "true",
    "(Object) account instanceof Account one && one.balance == 100": "true",
    "Account.opened": "1",
    "numbers.stream().count()": "200",
    "text + nothing + half": r'"a \"quoted\"\nlinenull0.5"',
    "numbers.stream().filter(x -> x > 3).count()": "198",
    "numbers.stream().map(n -> new Point(n, primes[0])).skip(5).findFirst().get()": (
        "Values.Point[x=25, y=2]"
    ),
    "ages.entrySet().stream().map(Map.Entry::getKey).collect(Collectors.joining())": '"ada"',
    "numbers.stream().map(x -> { int y = total(numbers, x); return y; }).limit(1).toList()": (
        "[2646700]"
    ),
    'switch (text.length()) { case 1 -> "a"; default -> letter; }': "'x'",
    "tags.forEach(tag -> {})": "null",
    "numbers.subList(1, 3)": "[1, 4]",
    "ages.values()": "[36]",
    "new java.util.concurrent.ConcurrentSkipListMap(ages).keySet()": '["ada"]',
    "new java.util.Hashtable(ages)": '{"ada"=36}',
    "new java.util.IdentityHashMap(ages)": '{"ada"=36}',
    "new java.util.WeakHashMap(ages)": '{"ada"=36}',
    "new java.util.EnumMap(Map.of(color, 1))": "{GREEN=1}",
    "java.util.EnumSet.of(color)": "[GREEN]",
    "new java.util.Vector(numbers.subList(0, 3))": "[0, 1, 4]",
    "java.util.Collections.nCopies(2, primes[0])": "[2, 2]",
    "new java.util.concurrent.LinkedBlockingQueue(numbers.subList(2, 4))": "[4, 9]",
    "new java.util.concurrent.ArrayBlockingQueue(2, true, numbers.subList(2, 4))": "[4, 9]",
    "Map.entry(1, java.util.OptionalInt.of(4))": "1=OptionalInt[4]",
    "switch (small) { case 7 -> 1; default -> 2; }": "2",
}
REFUSED = {
    "nope + 1": "no variable, field or class nope here",
    "account.nope": "Values.Account has no field nope",
    "1 / 0": "division by zero",
    "numbers.get(999)": "get() threw java.lang.IndexOutOfBoundsException: Index 999",
    "primes[9]": "the index 9 is out of bounds for a length of 4",
    "nothing.toString()": "cannot call toString(): the object is null",
    "Optional.of(1).map(x -> nope)": "the expression does not compile: cannot find variable nope",
    "Optional.of(1).map(x -> x / 0)": "the expression threw java.lang.ArithmeticException",
    "Optional.of(1).map(x -> large++)": "an expression with a lambda cannot assign to the local",
    "switch (color) { case RED -> 1; case GREEN -> 2; }": "an expression can declare no class",
    "(1 +": "the expression ends too early",
    'account.deposit("a", 1)': "no method deposit of Values.Account takes these arguments",
}


def java(cli: Cli, *words: object, code: int = 0) -> Any:
    return cli("--json", *map(str, words), check=code, cwd=JAVA)


def error_of(answer: Any) -> tuple[str, str]:
    return answer.data["error"]["code"], answer.data["error"]["message"]


def at(name: str, marker: str) -> str:
    return f"{name}.java:{find_marker(f'java/{name}.java', marker)}"


def test_values_are_shown_as_java_writes_them_and_expressions_are_those_of_java(cli: Cli) -> None:
    stop = answer_data(java(cli, "start", build_java("Values"), "--break", at("Values", "ready")))
    shown = {one["name"]: one["value"] for one in stop["locals"]}
    assert {name: shown[name] for name in VALUES} == VALUES
    answers = {one: answer_data(java(cli, "print", one))["value"] for one in EXPRESSIONS}
    assert answers == EXPRESSIONS
    for expression, why in REFUSED.items():
        code, message = error_of(java(cli, "print", expression, code=1))
        assert (code, message[: len(why)]) == ("EVALUATION_FAILED", why), expression
    for target, value in (("account.balance", "900"), ("primes[1]", "33"), ("text", '"new"')):
        assert answer_data(java(cli, "set", target, value))["value"] == value
    largest = "numbers.stream().mapToInt(x -> x).max().getAsInt()"
    assert answer_data(java(cli, "set", "large", largest))["value"] == "39601"
    for target, value in (("small", "300"), ("color", '"RED"'), ("point", "account")):
        assert error_of(java(cli, "set", target, value, code=1))[0] == "EVALUATION_FAILED"
    # The adapter starts by an archive of its classes, else it takes a tenth longer.
    jdk = java_home.find_jdk(os.environ)
    folder = run_adapter.name_folder(sorted(SOURCES.glob("*.java")), jdk.path) if jdk else ""
    assert Path(data_dir(os.environ), "compiled", "java", folder, "adapter.jsa").is_file()


def test_a_field_stops_the_program_when_it_is_written(cli: Cli) -> None:
    java(cli, "start", build_java("Values"), "--break", at("Values", "before"))
    java(cli, "watch", "this.counter")
    java(cli, "break", at("Values", "lambda"), "--condition", "counter + nope == 3")
    seen = [answer_data(java(cli, "continue"))["reason"] for _ in range(4)]
    assert seen == ["watchpoint", "watchpoint", "watchpoint", "exit"]


def test_a_crash_names_the_exception_its_cause_and_the_values(cli: Cli) -> None:
    found = answer_data(java(cli, "crash", "--", "Throws.java", "x"))
    assert found["cause"].startswith("OrderError: no price of order 1")
    assert found["frame"]["function"] == "Throws.price"
    assert found["frame"]["line"] == find_marker("java/Throws.java", "wrapped")
    [cause] = found["exception"]["causes"]
    assert cause.startswith("java.lang.NumberFormatException")
    assert f", in Throws.price Throws.java:{find_marker('java/Throws.java', 'parse')}" in cause


def test_a_crash_names_where_an_exception_was_created_that_is_thrown_again(shared_cli: Cli) -> None:
    words = ("--json", "crash", "--", build_java("Throws"), "1", "again")
    found = answer_data(shared_cli(*words, check=0, cwd=JAVA))
    assert found["frame"]["line"] == find_marker("java/Throws.java", "again")
    [origin] = found["exception"]["causes"]
    place = f"Throws.check Throws.java:{find_marker('java/Throws.java', 'throw')}"
    assert origin == f"Throws.OrderError: order 4 has no items, created in {place}"


def test_a_crash_names_the_cause_of_a_constructor_that_reflection_called(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "Load.java").write_text(
        "public class Load {\n"
        "    public Load(String text) { System.out.println(1 / text.length()); }\n"
        "    public static void main(String[] args) throws Exception {\n"
        '        Load.class.getConstructor(String.class).newInstance("");\n'
        "    }\n"
        "}\n"
    )
    words = ("--json", "crash", "--no-why", "--", "Load.java")
    found = answer_data(cli(*words, check=0, cwd=tmp_path))
    assert found["cause"].startswith("InvocationTargetException, in Load.main Load.java:4")
    [cause] = found["exception"]["causes"]
    assert cause == "java.lang.ArithmeticException: / by zero, in Load.<init> Load.java:2"


def test_methods_can_be_called_where_a_condition_or_an_exception_has_stopped(cli: Cli) -> None:
    condition = "Integer.valueOf(i).equals(3)"
    java(cli, "start", build_java("Loop"), "--break", at("Loop", "step"))
    java(cli, "breakpoint", "change", "1", "--condition", "Stream.of(i).anyMatch(x -> x == 2)")
    assert answer_data(java(cli, "continue"))["locals"][0]["value"] == "2"
    java(cli, "breakpoint", "change", "1", "--condition", condition)
    java(cli, "continue")
    assert answer_data(java(cli, "print", "Integer.toString(i)"))["value"] == '"3"'
    java(cli, "start", build_java("Throws"), "--", "x")
    trace = answer_data(java(cli, "exception"))["trace"]
    assert trace.count("at Throws.price(Throws.java:") == 2
    assert answer_data(java(cli, "print", "order.items().get(0)"))["value"] == '"pen"'
    found = answer_data(java(cli, "crash", "--raised", "--", build_java("Throws")))
    assert "order 3 has no items" in found["cause"]


@pytest.mark.parametrize("how", ["monitors", "locks"])
def test_a_deadlock_names_the_threads_and_what_each_holds(cli: Cli, how: str) -> None:
    words = ["locks"] if how == "locks" else []
    found = answer_data(java(cli, "hang", "--after", "0.5", "--", build_java("Deadlock"), *words))
    assert found["kind"] == "deadlock"
    kind = "ReentrantLock" if how == "locks" else "Object"
    assert f"(biller) waits for other ({kind}), held by thread" in found["cause"]
    assert f"(packer) waits for other ({kind}), held by thread" in found["cause"]
    assert "DestroyJavaVM" not in str(found)  # the JVM's own, where `main` has returned


def test_calls_and_writes_are_told(cli: Cli) -> None:
    calls = cli("calls", "Loop.calculate", "--", build_java("Loop"), check=0, cwd=JAVA).out
    assert "Loop.calculate(i=3) → 9" in calls
    place = at("Values", "before")
    writes = cli(
        "who-wrote", "this.counter", "--at", place, "--", build_java("Values"), check=0, cwd=JAVA
    ).out
    assert "0 → 1, in Values.count" in writes
    assert "seen by a field watchpoint, recorded from the beginning" in writes
    refused = java(cli, "who-wrote", "sum", "--at", at("Loop", "done"), "--", "Loop.java", code=1)
    assert error_of(refused)[0] == "EVALUATION_FAILED"
    assert "debugger calls FUNCTION -- " in refused.data["error"]["hint"]
    lines = cli("calls", "Loop.sumTo", "--", build_java("Loop"), check=0, cwd=JAVA).out
    assert "sum=0 → 1" in lines


def test_writes_in_a_jvm_that_the_program_starts_are_told(shared_cli: Cli) -> None:
    place = at("ChildWorker", "worker")
    words = ("who-wrote", "ChildWorker.written", "--at", place, "--", build_java("Child"))
    shown = shared_cli(*words, check=0, cwd=JAVA).out
    assert (
        f"ChildWorker.written=14 at {place} was last written: 0 → 14, in ChildWorker.main" in shown
    )


def test_a_jvm_without_the_debuggers_agent_is_started_as_it_is(
    shared_cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libjava.so").touch()
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text('#!/bin/sh\ncase $1 in -agent*) exit 9;; esac\nexec java "$@"\n')
    java.chmod(0o700)
    shown = shared_cli("crash", "--", build_java("Child"), java, check=0, cwd=JAVA).out
    assert "result 14\n" in shown
    assert "child ended with 0\n" in shown


@pytest.fixture
def running() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Hold programs that a test runs beside the debugger; they are ended with it."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for one in started:
        one.kill()
        one.communicate()


def _run_endless(running: list[subprocess.Popen[bytes]], *options: str) -> subprocess.Popen[bytes]:
    words = ["java", *options, "-cp", str(build_java("Endless").parent), "Endless"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    running.append(process)
    assert process.stdout is not None
    while process.stdout.readline() != b"counting\n":
        pass
    return process


def test_a_jvm_that_listens_is_attached_to_and_any_other_is_refused(
    cli: Cli, running: list[subprocess.Popen[bytes]]
) -> None:
    agent = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
    process = _run_endless(running, agent)
    stop = answer_data(java(cli, "attach", process.pid, "--pause"))
    assert (stop["reason"], stop["frame"]["function"]) == ("pause", "Endless.count")
    java(cli, "detach")
    assert process.poll() is None
    silent = _run_endless(running, f"{agent},onjcmd=y")
    stop = answer_data(java(cli, "attach", silent.pid, "--pause"))
    assert stop["frame"]["function"] == "Endless.count"
    java(cli, "detach")
    plain = _run_endless(running)
    refused = java(cli, "attach", plain.pid, code=1)
    assert error_of(refused)[0] == "LAUNCH_FAILED"
    assert "does not listen for a debugger" in error_of(refused)[1]
    assert "-agentlib:jdwp=" in refused.data["error"]["hint"]
    assert plain.poll() is None


def test_what_cannot_be_run_says_why(cli: Cli, tmp_path: Path) -> None:
    bad = tmp_path / "Bad.java"
    bad.write_text("class Bad { int x = ; }\n")
    junk = tmp_path / "Junk.class"
    junk.write_text("junk")
    jar = tmp_path / "junk.jar"
    jar.write_text("junk")
    latin = tmp_path / "Latin.java"
    latin.write_bytes(b'class Latin { int x = "\xe9"; }')
    cases = {
        (str(latin),): "Latin.java:1: error: incompatible types",
        (str(bad),): "Bad.java:1: error: illegal start of expression",
        (str(junk),): "is no class file",
        (str(jar),): "is no jar with a main class",
        ("java",): "java is given no program",
        ("java", "--", "-cp", str(tmp_path), "shop.Main"): "no class shop.Main on the class path",
        ("java", "--", "-cp", str(build_java("Loop").parent), "-XX:Nonsense", "Loop"): (
            "Unrecognized VM option 'Nonsense'"
        ),
    }
    for words, why in cases.items():
        answer = java(cli, "start", *words, code=2 if words == ("java",) else 1)
        assert why in error_of(answer)[1], words
        assert answer.data["error"]["hint"]


def test_a_class_without_debug_information_says_so(cli: Cli) -> None:
    bare = build_java("Loop", options=("-g:none",))
    end = answer_data(java(cli, "start", bare, "--break", "Loop.java:4"))
    assert "has no debug information" in str(end)
    stop = answer_data(java(cli, "start", bare, "--break", "Loop.calculate"))
    assert [(one["name"], one["value"]) for one in stop["locals"]] == [("arg0", "1")]
    assert answer_data(java(cli, "print", "arg0 + 1"))["value"] == "2"
    assert "javac -g" in error_of(java(cli, "print", "i", code=1))[1]


def test_the_adapter_compiles_without_warnings(tmp_path: Path) -> None:
    words = ["javac", "-J-XX:TieredStopAtLevel=1", "-Xlint:all", "-Werror", "-d", str(tmp_path)]
    words += map(str, SOURCES.iterdir())
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")


def test_next_shows_what_a_method_returned_from_whichever_line(cli: Cli) -> None:
    """The JVM is asked for a return only where the line has an instruction that returns."""
    returned = [
        ("from_switch", "200"),
        ("after_switch", "11"),
        ("lambda", "8"),
        ("other", '"other"'),
        ("sparse", '"two"'),
        ("one", "4"),
    ]
    start = ("start", build_java("Returns"), "--break", at("Returns", "from_switch"))
    stop = answer_data(java(cli, *start))
    for marker, value in returned:
        if marker == "sparse":
            java(cli, "break", "Returns.sparse")
        elif marker != "from_switch":
            java(cli, "break", at("Returns", marker))
        if marker != "from_switch":
            stop = answer_data(java(cli, "continue"))
        assert stop["frame"]["line"] == find_marker("java/Returns.java", marker)
        stop = answer_data(java(cli, "next"))
        assert stop["returned"]["value"] == value, marker


def test_a_librarys_source_is_shown_from_its_sources_jar(cli: Cli, tmp_path: Path) -> None:
    library = (
        "package lib;\npublic class Twice {\n  public static int of(int n) {\n"
        "    return n + n;\n  }\n}\n"
    )
    program = (
        "public class Use { public static void main(String[] a) { lib.Twice.of(a.length); } }\n"
    )
    made = tmp_path / "made"
    (made / "lib").mkdir(parents=True)
    (made / "lib" / "Twice.java").write_text(library)
    (made / "Use.java").write_text(program)
    words = ["javac", "-g", "-d", str(tmp_path), "lib/Twice.java", "Use.java"]
    subprocess.run(words, cwd=made, check=True)
    with zipfile.ZipFile(tmp_path / "twice-1.0.jar", "w") as jar:
        jar.write(tmp_path / "lib" / "Twice.class", "lib/Twice.class")
    shutil.rmtree(tmp_path / "lib")
    shutil.rmtree(made)
    start = ("start", "java", "--break", "Twice.of", "--", "-cp", ".:twice-1.0.jar", "Use")
    for place in (".m2/repository/lib/twice/1.0", "."):  # of Maven's downloads, and beside it
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        sources = folder / "twice-1.0-sources.jar"
        with zipfile.ZipFile(sources, "w") as jar:
            jar.writestr("lib/Twice.java", library)
        # The adapter is not compiled again for this home.
        home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(Path(data_dir(os.environ)).parent)}
        shown = cli(*start, check=0, cwd=tmp_path, env=home).out
        assert "Twice.of at Twice.java:4" in shown
        assert "-> 4      return n + n;" in shown
        sources.unlink()


def test_hang_reads_the_dump_of_a_jvm_that_does_not_listen(
    cli: Cli, running: list[subprocess.Popen[bytes]]
) -> None:
    words = ["java", "-cp", str(build_java("Deadlock").parent), "Deadlock"]
    process = subprocess.Popen(words, cwd=JAVA, stdout=subprocess.PIPE)
    running.append(process)

    def is_deadlocked() -> bool:
        dump = ["jcmd", str(process.pid), "Thread.print"]
        done = subprocess.run(dump, capture_output=True, text=True, check=False)
        return "Java-level deadlock" in done.stdout

    wait_until(is_deadlocked, 60)
    found = answer_data(java(cli, "hang", "--pid", process.pid))
    assert (found["kind"], found["adapter"]) == ("deadlock", "jcmd")
    assert "(biller) waits for other (Object), held by thread" in found["cause"]
    assert found["frame"]["file"] == str(JAVA / "Deadlock.java")
    assert process.poll() is None
