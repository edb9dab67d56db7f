"""Commands and reports of Maven, Gradle and JUnit are understood, and one test is chosen again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from debugger.model.answers.frames import FrameView
from debugger.questions.test import java_tests, test_runners
from debugger.questions.test.java_tests import JavaCase
from debugger.questions.test.test_rerun import is_reported
from debugger.sources import java_project

XML = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="shop.CartTest" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="java.home" value="/jdk"/></properties>
  <testcase name="addsAll" classname="shop.CartTest" time="0.1">
    <failure message="expected: &lt;30&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[\
org.opentest4j.AssertionFailedError: expected: <30>
\tat app//org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:563)
\tat shop.CartTest.lambda$addsAll$0(CartTest.java:20)]]></failure>
  </testcase>
  <testcase name="all of none" classname="shop.CartTest">
    <error type="java.lang.ArithmeticException">java.lang.ArithmeticException: / by zero
\tat shop.Cart.average(Cart.java:27)
\tat shop.CartTest.averageOfNone(CartTest.java:25)</error>
  </testcase>
  <testcase name="later" classname="shop.CartTest"><skipped/></testcase>
  <testcase name="works" classname="shop.CartTest"/>
</testsuite>
"""
CORE = """\
JUnit version 4.13.2
.E
Time: 0.006
There was 1 failure:
1) isOfTwo(shop.AverageTest)
java.lang.AssertionError: expected:<4> but was:<0>
\tat org.junit.Assert.fail(Assert.java:89)
\tat shop.AverageTest.isOfTwo(AverageTest.java:13)

FAILURES!!!
Tests run: 1,  Failures: 1
"""


def make_project(root: Path) -> list[str]:
    for module, name in (("core", "src/main/java/shop/Cart.java"), ("core", "target/src/X.java")):
        file = root / module / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    test = root / "core" / "src/test/java/shop/CartTest.java"
    test.parent.mkdir(parents=True)
    test.touch()
    return java_project.list_modules(str(root))


def test_a_report_gives_each_failure_with_its_method_and_its_line_in_the_project(
    tmp_path: Path,
) -> None:
    modules = make_project(tmp_path)
    assert modules == [str(tmp_path / "core")]
    cases = java_tests.parse_junit_xml(XML)
    report = java_tests.build_report(cases, [], modules)
    assert report.summary == "4 tests, 2 failed, 1 skipped"
    first, second = report.failed
    folder = tmp_path / "core/src"
    assert first.name == "shop.CartTest.addsAll"
    assert (first.message, first.of) == ("expected: <30>", "shop.CartTest#addsAll")
    assert (first.file, first.line) == (str(folder / "test/java/shop/CartTest.java"), 20)
    assert second.message == "java.lang.ArithmeticException: / by zero"
    assert (second.of, second.thrown) == (
        "shop.CartTest#averageOfNone",
        "java.lang.ArithmeticException",
    )
    assert (second.file, second.line) == (str(folder / "main/java/shop/Cart.java"), 27)
    assert java_tests.parse_junit_xml(b"<testsuite") == []


def test_a_failure_without_a_message_is_found_by_its_line() -> None:
    """Gradle's report of what the JVM words itself has the type in the place of the message."""
    kind = "java.lang.NullPointerException"
    case = JavaCase(
        "shop.CartTest", "sums", kind, kind, f"{kind}\n\tat shop.Cart.total(Cart.java:8)"
    )
    failure = java_tests.name_failure(case, [])
    assert (failure.message, failure.thrown) == (kind, kind)
    failure = msgspec.structs.replace(failure, file="/shop/Cart.java", line=8)
    worded = 'Cannot invoke "java.lang.Integer.intValue()"'
    there, elsewhere = (FrameView(0, "Cart.total", "/shop/Cart.java", line) for line in (8, 9))
    assert is_reported(worded, [elsewhere, there], failure)
    assert not is_reported(worded, [elsewhere], failure)
    named = msgspec.structs.replace(failure, message=f"{kind}: no price")
    assert not is_reported(worded, [there], named)
    assert is_reported("no price", [elsewhere], named)


def test_junit_cores_output_gives_the_failures() -> None:
    [case] = java_tests.parse_junit_core(CORE)
    assert (case.class_name, case.name) == ("shop.AverageTest", "isOfTwo")
    failure = java_tests.name_failure(case, [])
    assert (failure.message, failure.thrown) == (
        "expected:<4> but was:<0>",
        "java.lang.AssertionError",
    )


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *(("addsAll", "addsAll"), ("addsAll()", "addsAll"), ("one(int)[2]", "one")),
        *(("one{int}[2]", "one"), ("total[3]", "total"), ("all of none", ""), ("", "")),
    ],
)
def test_a_test_without_a_trace_has_the_method_that_its_name_begins_with(
    name: str, method: str
) -> None:
    assert java_tests.find_method(JavaCase("shop.CartTest", name)) == method


@pytest.mark.parametrize(
    ("lines", "errors"),
    [
        (
            ["[ERROR] /p/src/Cart.java:[12,5] ';' expected", "[ERROR] Failed to execute goal x"],
            ["/p/src/Cart.java:12: ';' expected"],
        ),
        (["[ERROR] file:///p/A.kt:[3,9] Unresolved reference 'x'."], ["/p/A.kt:3: Unresolved"]),
        (["/p/Cart.java:7: error: cannot find symbol"], ["/p/Cart.java:7: cannot find symbol"]),
        (["e: file:///p/A.kt:3:9 Unresolved reference"], ["/p/A.kt:3: Unresolved reference"]),
        (["[ERROR] Unknown lifecycle phase x -> [Help 1]"], ["Unknown lifecycle phase x"]),
        (["* What went wrong:", "Task 'x' not found."], ["Task 'x' not found."]),
        (["BUILD SUCCESS"], []),
    ],
)
def test_what_kept_a_build_from_its_tests_is_reported(lines: list[str], errors: list[str]) -> None:
    found = java_tests.list_build_errors(lines)
    assert len(found) == len(errors)
    assert all(one.startswith(wanted) for one, wanted in zip(found, errors, strict=True))


def test_a_jvm_of_the_tests_that_ended_by_itself_is_no_run_without_tests() -> None:
    lines = [
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test:",
        "[ERROR] ExecutionException The forked VM terminated without properly saying goodbye.",
        "[ERROR] Process Exit Code: 3",
        "[ERROR] Crashed tests:",
        "[ERROR] shop.CartTest",
    ]
    report = java_tests.build_report([], lines, [])
    assert report.ended_early.startswith(
        "the JVM of the tests ended with status 3 in shop.CartTest"
    )
    assert (report.is_nothing, report.errors) == (False, ())


@pytest.mark.parametrize(
    ("words", "runner"),
    [
        (("mvn", "-q", "test"), test_runners.MAVEN),
        (("./mvnw", "verify"), test_runners.MAVEN),
        (("./gradlew", "check"), test_runners.GRADLE),
        (("java", "-jar", "lib/junit-platform-console-standalone-1.9.jar"), test_runners.JUNIT),
        (("java", "-cp", "x", "org.junit.runner.JUnitCore", "A"), test_runners.JUNIT),
        (("java", "-jar", "app.jar"), test_runners.PROGRAM),
    ],
)
def test_the_runner_is_known_by_its_command(words: tuple[str, ...], runner: str) -> None:
    assert test_runners.parse_runner(words).runner == runner


@pytest.mark.parametrize(
    ("words", "case", "chosen"),
    [
        (
            "mvn -q test -Dtest=Old*",
            ("T.adds", "T", "adds"),
            "mvn -q test -Dtest=T#adds -Dit.test=T#adds",
        ),
        ("mvn test", ("T.one(int)[2]", "T", "one"), "mvn test -Dtest=T#one* -Dit.test=T#one*"),
        ("gradle test --tests Old", ("T.adds", "T", "adds"), "gradle test --tests T.adds"),
        ("gradle :a:test -i", ("T.adds", "T", ""), "gradle :a:test --tests T -i"),
        ("gradle check", ("T.adds", "T", "adds"), "gradle test --tests T.adds check"),
        (
            "java -jar junit.jar execute -cp x --scan-class-path",
            ("T.adds()", "T", "adds"),
            "java -jar junit.jar execute -cp x --select-method=T#adds",
        ),
        (
            "java -jar junit.jar -c Old --details tree",
            ("T.one(int)[2]", "T", "one"),
            "java -jar junit.jar --details tree --select-class=T",
        ),
        (
            "java -cp x org.junit.runner.JUnitCore A B",
            ("B.adds", "B", "adds"),
            "java -cp x org.junit.runner.JUnitCore B",
        ),
    ],
)
def test_one_test_is_chosen_in_the_words_of_each_tool(
    words: str, case: tuple[str, str, str], chosen: str
) -> None:
    found = java_tests.choose_test(words.split(), *case)
    assert " ".join(found).startswith(chosen)
