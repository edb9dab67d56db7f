"""Build folders are mapped to folders here, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import SourceMap, source_map

MAP = source_map(
    {"/build/src": "/home/me/src", "/build/src/lib": "~/lib/", "/ci/": "/x"}, "/home/me"
)


@pytest.mark.parametrize(
    ("built", "here"),
    [
        ("/build/src/a.c", "/home/me/src/a.c"),
        ("/build/src/lib/b.c", "/home/me/lib/b.c"),  # the innermost folder counts
        ("/build/src", "/home/me/src"),
        ("/ci/deep/er/c.c", "/x/deep/er/c.c"),
    ],
)
def test_a_mapped_file_is_named_both_ways(built, here):
    assert MAP.to_local(built) == here
    assert MAP.to_built(here) == built


@pytest.mark.parametrize("path", ["/build/srcs/a.c", "/build", "/else/a.c", "a.c", "", "/"])
def test_other_files_stay_what_they_are(path):
    assert MAP.to_local(path) == path
    assert MAP.to_built(path) == path


@given(st.text(alphabet="ab/.", max_size=12))
def test_there_and_back_is_the_same(path):
    pair = SourceMap((("/build", "/home"),))
    inside = f"/build/{path}"
    assert pair.to_built(pair.to_local(inside)) == inside


@pytest.mark.parametrize("pair", [{"src": "/x"}, {"/x": "src"}, {"": "/x"}, {"/x": "~me/src"}])
def test_a_folder_that_is_not_absolute_is_refused(pair):
    with pytest.raises(DebuggerError, match="not an absolute path") as refused:
        source_map(pair, "/home/me")
    assert refused.value.code is ErrorCode.USAGE
    assert "[sources] map" in (refused.value.hint or "")


def test_an_empty_map_is_none():
    assert not source_map({}, "/")
    assert MAP
