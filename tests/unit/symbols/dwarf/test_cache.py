from __future__ import annotations

import os
import stat
import threading

import pytest

import dwarf_stops
from debuggees import find_marker
from debugger.symbols.dwarf import debug_cache as cached
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_cache import DebugCache


def never():
    raise AssertionError("it is kept")


def test_what_was_made_once_is_kept_for_the_next_session(tmp_path):
    place = tmp_path / "cache"
    first = DebugCache(place, "abc")
    assert first.get_or_make("names", list[str], lambda: ["a", "b"]) == ["a", "b"]
    first.close()
    second = DebugCache(place, "abc")
    assert second.has_key("names")
    assert second.get_or_make("names", list[str], never) == ["a", "b"]
    second.close()


def test_another_build_and_another_version_see_nothing(tmp_path, monkeypatch):
    DebugCache(tmp_path / "cache", "abc").get_or_make("names", list[str], lambda: ["a"])
    assert not DebugCache(tmp_path / "cache", "abd").has_key("names")
    monkeypatch.setattr(cached, "VERSION", cached.VERSION + 1)
    assert not DebugCache(tmp_path / "cache", "abc").has_key("names")


def test_only_its_owner_may_read_it(tmp_path):
    place = tmp_path / "cache"
    DebugCache(place, "abc").get_or_make("names", list[str], list)
    for path in (place, *place.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_directory_that_is_open_to_others_is_not_used(tmp_path):
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(0o755)
    assert DebugCache(place, "abc").get_or_make("names", list[str], lambda: ["a"]) == ["a"]
    assert list(place.iterdir()) == []


def test_a_file_that_leads_elsewhere_is_not_followed(tmp_path):
    place, other = tmp_path / "cache", tmp_path / "other"
    place.mkdir(mode=0o700)
    (place / f"abc-v{cached.VERSION}.sqlite").symlink_to(other)
    assert DebugCache(place, "abc").get_or_make("names", list[str], lambda: ["a"]) == ["a"]
    assert not other.exists()


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_begun_again(tmp_path, content):
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    (place / f"abc-v{cached.VERSION}.sqlite").write_bytes(content)
    cache = DebugCache(place, "abc")
    assert cache.get_or_make("names", list[str], lambda: ["a"]) == ["a"]
    cache.close()
    assert DebugCache(place, "abc").get_or_make("names", list[str], lambda: ["a"]) == ["a"]


def test_a_value_of_another_shape_is_made_again(tmp_path):
    DebugCache(tmp_path / "cache", "abc").get_or_make("names", list[str], lambda: ["a"])
    assert DebugCache(tmp_path / "cache", "abc").get_or_make("names", dict[str, int], dict) == {}


def test_the_oldest_make_room(tmp_path):
    for number in range(6):
        DebugCache(tmp_path / "cache", str(number), files_max=3).close()
        path = tmp_path / "cache" / f"{number}-v{cached.VERSION}.sqlite"
        os.utime(path, (number, number))
    assert {path.name[0] for path in (tmp_path / "cache").iterdir()} == {"3", "4", "5"}


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/debugger-cli/dwarf"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/debugger-cli/dwarf"),
        ({"HOME": "/h"}, "/h/.cache/debugger-cli/dwarf"),
    ],
)
def test_it_is_where_caches_are(env, folder):
    assert str(cached.cache_folder(env)) == folder


def test_an_image_answers_the_same_from_its_cache(tmp_path):
    program = dwarf_stops.compile_debuggee("shapes.cpp", 0, tmp_path)
    answers = []
    for _ in range(2):
        image = BinaryImage(program, cache=tmp_path / "cache")
        found = image.lines.find_line("shapes.cpp", find_marker("shapes.cpp", "outer"))
        named = list(image.functions.all_names)
        around = image.functions.functions_at(found.locations[0].address)
        answers.append((found, sorted(named), around))
        image.close()
    assert answers[0] == answers[1]
    assert len(list((tmp_path / "cache").iterdir())) == 1


class SlowConnection:
    """Executes a statement until it is let go on, and notes whether it was closed meanwhile."""

    def __init__(self) -> None:
        self.began, self.goes_on, self.is_closed = threading.Event(), threading.Event(), False
        self.was_closed_within = False

    def execute(self, _statement: str, _values: object) -> SlowConnection:
        self.began.set()
        self.goes_on.wait(20)
        self.was_closed_within = self.is_closed
        return self

    def fetchone(self) -> None:
        return None

    def close(self) -> None:
        self.is_closed = True


def test_it_is_closed_after_what_another_thread_executes():
    kept, slow = DebugCache(None, "x"), SlowConnection()
    kept._connection = slow
    reader = threading.Thread(target=kept.has_key, args=("key",))
    reader.start()
    assert slow.began.wait(20)
    closer = threading.Thread(target=kept.close)
    closer.start()
    closer.join(0.1)
    slow.goes_on.set()
    reader.join(20)
    closer.join(20)
    assert (slow.is_closed, slow.was_closed_within) == (True, False)
    assert not kept.has_key("key")
