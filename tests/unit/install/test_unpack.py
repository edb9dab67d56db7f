"""An archive is unpacked into its folder, and nowhere else."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.install import download


def member(name: str, content: bytes = b"", **more) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in more.items():
        setattr(info, key, value)
    return info, content


def link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=tarfile.SYMTYPE, linkname=target)


def archive(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> io.BytesIO:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as opened:
        for info, content in members:
            opened.addfile(info, io.BytesIO(content))
    return io.BytesIO(made.getvalue())


def unpacked(made: io.BytesIO, into: Path, keep=lambda name: name, **more) -> int:
    into.mkdir(exist_ok=True)
    return download.unpack_tar(made, into, keep, stop=threading.Event(), **more)


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_what_is_wanted_is_unpacked_with_its_mode(tmp_path):
    made = archive(
        member("pkg/bin/tool", b"#!", mode=0o4755), member("pkg/text", b"t"), member("other", b"o")
    )

    def keep(name: str) -> str | None:
        return name.removeprefix("pkg/") if name.startswith("pkg/") else None

    assert unpacked(made, tmp_path / "in", keep) == 2
    assert everything(tmp_path / "in") == {"bin", "bin/tool", "text"}
    assert (tmp_path / "in/bin/tool").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "in/text").read_bytes() == b"t"


@pytest.mark.parametrize(
    "hostile",
    [
        (member("/etc/passwd", b"x"),),
        (member("../beside", b"x"),),
        (member("a/../../beside", b"x"),),
        (link("a", "/etc/passwd"),),
        (link("a", "../beside"),),
        (link("a/b", "../../beside"),),
        (member("fifo", type=tarfile.FIFOTYPE),),
        (member("device", type=tarfile.CHRTYPE),),
        (member("file", b"x"), member("hard", type=tarfile.LNKTYPE, linkname="file")),
    ],
    ids=lambda members: members[-1][0].name + ">" + members[-1][0].linkname,
)
def test_what_leads_out_is_refused(tmp_path, hostile):
    with pytest.raises(DebuggerError) as found:
        unpacked(archive(*hostile), tmp_path / "in")
    assert found.value.code is ErrorCode.ADAPTER_FAILED
    assert everything(tmp_path) <= {"in", "in/file"}


def test_a_link_inside_is_kept_and_no_file_goes_through_one(tmp_path):
    made = archive(link("lib", "real"), member("lib/x", b"x"), member("real/y", b"y"))
    with pytest.raises((DebuggerError, OSError)):
        unpacked(made, tmp_path / "in")
    made = archive(member("real/y", b"y"), link("real/z", "y"), link("alias", "real"))
    unpacked(made, tmp_path / "two")
    assert (tmp_path / "two/alias/z").read_bytes() == b"y"


def test_a_link_out_may_be_left_out(tmp_path):
    made = archive(member("a", b"x"), link("b", "/etc/python/sitecustomize.py"))
    assert unpacked(made, tmp_path / "in", drops_links_out=True) == 1
    assert everything(tmp_path / "in") == {"a"}


def test_no_more_than_the_limit_is_written(tmp_path):
    made = archive(member("a", b"x" * 600), member("b", b"x" * 600))
    with pytest.raises(DebuggerError, match="over 1,000 bytes"):
        unpacked(made, tmp_path / "in", bytes_max=1000)
    assert everything(tmp_path / "in") == {"a"}


@pytest.mark.parametrize("mode", ["w:gz", "w:xz"])
@given(share=st.floats(0, 0.97))
@settings(max_examples=25)
def test_a_part_of_an_archive_is_no_archive(tmp_path_factory, mode, share):
    folder = tmp_path_factory.mktemp("part")
    whole = archive(member("a", os.urandom(4000)), mode=mode).getvalue()
    with pytest.raises(DebuggerError, match="cannot be unpacked"):
        unpacked(io.BytesIO(whole[: int(len(whole) * share)]), folder / "in")


@given(st.binary(max_size=600))
@settings(max_examples=60)
def test_noise_is_no_archive(tmp_path_factory, noise):
    with pytest.raises(DebuggerError, match="cannot be unpacked"):
        unpacked(io.BytesIO(b"\1" + noise), tmp_path_factory.mktemp("noise") / "in")


def test_an_interrupted_unpacking_ends(tmp_path):
    stop = threading.Event()
    stop.set()
    with pytest.raises(DebuggerError, match="interrupted"):
        download.unpack_tar(archive(member("a", b"x")), tmp_path, lambda name: name, stop=stop)
    assert everything(tmp_path) == set()


def package(data: bytes, name: str = "data.tar.xz") -> bytes:
    def part(name: str, content: bytes) -> bytes:
        header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        return header + content + b"\n" * (len(content) % 2)

    return (
        b"!<arch>\n"
        + part("debian-binary", b"2.0\n")
        + part("control.tar.xz", b"c")
        + part(name, data)
    )


def test_a_debian_package_is_unpacked_without_dpkg(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    tar = archive(member("./usr/bin/tool", b"#!", mode=0o755), mode="w:").getvalue()
    (tmp_path / "a.deb").write_bytes(package(lzma.compress(tar)))
    (tmp_path / "in").mkdir()
    stop = threading.Event()
    assert (
        download.unpack_deb(tmp_path / "a.deb", tmp_path / "in", lambda name: name, stop=stop) == 1
    )
    assert os.access(tmp_path / "in/usr/bin/tool", os.X_OK)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no Debian package"),
        (b"!<arch>\n", "no data"),
        (package(lzma.compress(b"x" * 5000))[:-40], "cannot be unpacked"),
        (package(b"x", "data.tar.zst"), "data.tar.zst"),
        (package(b"not xz"), "cannot be unpacked"),
    ],
)
def test_what_is_no_debian_package_is_refused(tmp_path, monkeypatch, content, says):
    monkeypatch.setenv("PATH", "/nonexistent")
    (tmp_path / "a.deb").write_bytes(content)
    (tmp_path / "in").mkdir()
    with pytest.raises(DebuggerError, match=says):
        download.unpack_deb(
            tmp_path / "a.deb", tmp_path / "in", lambda name: name, stop=threading.Event()
        )
