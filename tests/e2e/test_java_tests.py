"""Failing tests of Java, by JUnit's launchers and by a build tool, are explained in one answer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data
from debuggees import PROGRAMS

CONSOLE = "/usr/share/java/junit-platform-console-standalone.jar"
pytestmark = [
    pytest.mark.adapter("java"),
    pytest.mark.skipif(not Path(CONSOLE).is_file(), reason="JUnit is not installed"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a compiled project."""
    root = tmp_path_factory.mktemp("java") / "shop"
    shutil.copytree(PROGRAMS / "java_tests", root)
    # Outside of its package's folder, where javac takes it, too.
    (root / "src/test/java/shop/AverageTest.java").rename(root / "AverageTest.java")
    files = sorted(str(one) for one in root.rglob("*.java"))
    words = ["javac", "-g", "-nowarn", "-cp", f"{CONSOLE}:/usr/share/java/junit4.jar"]
    subprocess.run([*words, "-d", str(root / "classes"), *files], check=True)
    return root


def explain(cli: Cli, folder: Path, *words: str) -> Any:
    return answer_data(cli("--json", "test", *words, check=0, cwd=folder))


def test_the_console_launchers_failing_test_is_explained(cli: Cli, project: Path) -> None:
    command = ("java", "-jar", CONSOLE, "-cp", "classes", "-c", "shop.CartTest")
    found = explain(cli, project, "--", *command)
    assert found["test"] == "shop.CartTest.addsAll()"
    assert found["cause"].startswith("assertion failed: the total ==> expected: <30> but was: <20>")
    assert (found["frame"]["function"], found["frame"]["line"]) == ("CartTest.addsAll", 21)
    assert {one["name"]: one["value"] for one in found["values"]} == {"total": "20"}
    assert found["made"][-1]["text"] == "int total = cart.total();"


def test_a_test_of_junit_4_stops_where_it_throws(cli: Cli, project: Path) -> None:
    path = f"classes:{CONSOLE}:/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar"
    words = ("java", "-cp", path, "org.junit.runner.JUnitCore", "shop.AverageTest")
    found = explain(cli, project, "--", *words)
    assert (found["runner"], found["test"]) == ("junit", "shop.AverageTest.isZeroOfNone")
    assert found["cause"].startswith("IllegalStateException: no prices")
    (cause,) = found["exception"]["causes"]
    assert cause.startswith("java.lang.ArithmeticException: / by zero, in Cart.average Cart.java:")
    assert found["frame"]["function"] == "Cart.average"
    assert found["method"] == "run again by java"
    files = {one["frame"]["function"]: one["frame"]["file"] for one in found["callers"]}
    assert files["AverageTest.isZeroOfNone"] == str(project / "AverageTest.java")


def test_a_build_tools_forked_jvm_is_debugged(cli: Cli, project: Path) -> None:
    found = explain(cli, project, "--", "./mvnw", "-q", "test")
    assert (found["runner"], found["test"]) == ("maven", "shop.CartTest.addsAll()")
    assert found["method"] == "run again by java"
    assert found["frame"]["file"] == str(project / "src/test/java/shop/CartTest.java")
    assert {one["name"]: one["value"] for one in found["values"]} == {"total": "20"}
    stop = answer_data(
        cli("--json", "start", "mvnw", "--break", "CartTest.addsAll", "--", "test", cwd=project)
    )
    assert stop["frame"]["function"] == "CartTest.addsAll"
    ended = answer_data(cli("--json", "continue", cwd=project))
    assert (ended["reason"], ended["exit_code"]) == ("exit", 1)


def test_the_run_to_the_failure_is_the_first_that_follows_its_value(
    cli: Cli, project: Path
) -> None:
    counted = project.parent / "counted"
    shutil.copytree(project, counted)
    (counted / "mvnw").rename(counted / "build.sh")
    (counted / "mvnw").write_text('#!/bin/sh\necho >> builds\nexec ./build.sh "$@"\n')
    (counted / "mvnw").chmod(0o755)
    # More exceptions of another type than a run stops at.
    test = counted / "src/test/java/shop/CartTest.java"
    caught = 'try { Integer.parseInt("x"); } catch (NumberFormatException e) { }'
    body = f"Cart cart = new Cart();\n        for (int i = 0; i < 1_100; i++) {caught}\n"
    test.write_text(test.read_text().replace("Cart cart = new Cart();\n", body))
    found = explain(cli, counted, "--timeout", "150", "--", "./mvnw", "-q", "test")
    assert (found["why"]["expression"], found["why"]["value"]) == ("total", "20")
    assert found["why"]["text"] == "sum assigned", str(found["why"])
    # The user's own, the one to the failure, and one that records.
    assert (counted / "builds").read_text() == "\n" * 3


def test_the_lines_of_a_build_tools_tests_are_counted(cli: Cli, project: Path) -> None:
    shown = cli("path", "--around", "Cart.total", "--", "./mvnw", "test", check=0, cwd=project).out
    assert "Cart.total Cart.java:" in shown
    assert "sum += " in shown
    command = ("java", "-jar", CONSOLE, "-cp", "classes", "-c", "shop.CartTest")
    shown = cli("path", "--", *command, check=0, cwd=project).out
    assert "in 2 files" in shown.splitlines()[0]  # none of JUnit's own


def test_a_build_that_fails_before_its_tests_says_why(cli: Cli, project: Path) -> None:
    broken = project.parent / "broken"
    shutil.copytree(project, broken)
    (broken / "src/main/java/shop/Cart.java").write_text(
        "package shop;\nclass Cart { int x = ; }\n"
    )
    found = explain(cli, broken, "--", "./mvnw", "test")
    assert found["outcome"] == "broken"
    assert found["cause"] == "src/main/java/shop/Cart.java:2: illegal start of expression"
    refused = cli("--json", "start", "mvnw", "--", "test", check=1, cwd=broken).data["error"]
    assert refused["code"] == "LAUNCH_FAILED"
    assert "no JVM of a test or a program was started" in refused["message"]
