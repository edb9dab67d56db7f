"""What the agent of Java wrote is read, with the sources of its classes; no JVM runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.recordings import java_run
from debugger.recorders.java.counted_classes import SourceFinder, list_lineless, read_counts
from debugger.session.stepping import WaitLimit
from debugger.system import java_home

WRITTEN = """class\tshop/Cart$Item\tCart.java\tfile:{0}/target/classes/
method\t<init>\t3\t4:3\x20
method\tunused\t0\t9:0\x20
uncounted\thuge
class\tshop/Cart\tCart.java\tfile:{0}/target/classes/
method\ttotal\t1\t3:1 4:2 5:1 40:7\x20
class\tlib/Tool\tTool.java\tjar:file:{0}/app.jar!/BOOT-INF/classes!/
method\trun\t2\t1:2\x20
class\tlib/Plain\t\tfile:{0}/plain/
method\trun\t2\t
window\t1
omitted\t2
"""
SOURCE = "package shop;\nclass Cart {\n  int total() {\n    return 1;\n  }\n}\n"


def test_methods_that_ran_have_the_lines_of_their_source(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "main" / "java" / "shop"
    folder.mkdir(parents=True)
    (folder / "Cart.java").write_text(SOURCE)
    (tmp_path / "plain").mkdir()
    counts = read_counts(WRITTEN.format(tmp_path).splitlines(keepends=True))
    classes = counts.classes
    assert (counts.omitted, counts.edges) == (2, 1)
    assert [one.simple_name for one in classes] == ["Cart.Item", "Cart", "Tool", "Plain"]
    assert classes[0].uncounted == ("huge",)
    assert classes[2].folder == str(tmp_path / "app.jar")
    covered = list(SourceFinder([]).cover(classes))
    names = [one.name for one in covered]
    # Tool is of a jar, and its source is not here: a library's.
    assert names == ["Cart.Item.<init>", "Cart.total", "Plain.run"]
    total = covered[1]
    assert (total.file, total.line, total.count) == (str(folder / "Cart.java"), 3, 1)
    # A bracket alone and a line of inlined code, behind the end, are left out.
    assert [(one.line, one.times) for one in total.parts] == [(3, 1), (4, 2)]
    assert list_lineless(classes) == ["Plain"]


def test_without_any_source_all_counted_classes_are_the_programs(tmp_path: Path) -> None:
    classes = read_counts(WRITTEN.format(tmp_path).splitlines()).classes
    names = [one.name for one in SourceFinder([]).cover(classes)]
    assert names == ["Cart.Item.<init>", "Cart.total", "Tool.run", "Plain.run"]


def test_of_a_jar_with_its_libraries_only_classes_with_sources_are_the_programs(
    tmp_path: Path,
) -> None:
    (tmp_path / "src" / "shop").mkdir(parents=True)
    (tmp_path / "src" / "shop" / "Cart.java").write_text(SOURCE)
    (tmp_path / "plain").mkdir()
    written = WRITTEN.replace("file:{0}/target/classes/", "file:{0}/app.jar")
    classes = read_counts(written.format(tmp_path).splitlines()).classes
    names = [one.name for one in SourceFinder([str(tmp_path)]).cover(classes)]
    assert names == ["Cart.Item.<init>", "Cart.total", "Plain.run"]


def test_a_kotlin_source_outside_of_its_packages_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "Shop.kt").write_text("package shop.app\n\nfun main() = Unit\n")
    written = f"class\tshop/app/ShopKt\tShop.kt\tfile:{tmp_path}/out/\nmethod\tmain\t1\t3:1 \n"
    classes = read_counts(written.splitlines()).classes
    (found,) = SourceFinder([]).cover(classes)
    assert found.file == str(tmp_path / "Shop.kt")


def test_without_a_jdk_the_command_that_installs_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java_home, "FOLDERS", ())
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    launch = LaunchTarget(str(tmp_path / "A.java"), str(tmp_path), env)
    limit = WaitLimit(5.0, asyncio.Event())
    with pytest.raises(DebuggerError, match="no JDK") as raised:
        asyncio.run(java_run.prepare_java(launch, tmp_path, limit))
    assert raised.value.code is ErrorCode.LAUNCH_FAILED
    assert raised.value.hint == "debugger setup java --yes"
