"""The function that a user means is found."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.recordings import function_lookup, source_search
from debugger.recorders.model import FunctionPlace, RecordedFunction, Recording

SOURCE = "def one():\n    return 1\n\n\nclass Two:\n    def three(self):\n        return 3\n"


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SOURCE)
    return path


def test_a_line_means_the_function_that_it_is_in(script):
    is_meant = function_lookup.function_matcher(
        function_lookup.parse_function_place("script.py:7", str(script.parent)), Recording()
    )
    assert is_meant(RecordedFunction(1, "Two.three", str(script), 6))
    assert not is_meant(RecordedFunction(2, "one", str(script), 1))
    assert not is_meant(RecordedFunction(3, "Two.three", "/other/script.py", 6))


def test_a_line_outside_of_functions_means_the_module(script):
    is_meant = function_lookup.function_matcher(
        function_lookup.parse_function_place("script.py:4", str(script.parent)), Recording()
    )
    assert is_meant(RecordedFunction(1, "<module>", str(script), 1))
    assert not is_meant(RecordedFunction(1, "one", str(script), 1))


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("three", "Two.three", True),
        ("Two.three", "Two.three", True),
        ("Two.*", "Two.three", True),
        ("hree", "Two.three", False),
        ("inner", "f.<locals>.inner", True),
        ("store::add", "shop::store::add", True),
        ("add", "shop::store::add", True),
    ],
)
def test_names_are_meant_whole_by_their_ends_and_by_stars(pattern, name, fits):
    assert function_lookup.matches_name(pattern, name) is fits


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("three", "three was not called: it is Two.three in "),
        ("tree", "no function tree ran; there is Two.three"),
        ("script.py:2", "no function with script.py:2 ran; of that file ran main"),
    ],
)
def test_what_did_not_run_is_named_with_what_is_near(script, words, says):
    recording = Recording(functions={1: RecordedFunction(1, "main", str(script), 9)})
    wanted = function_lookup.parse_function_place(words, str(script.parent))
    told = function_lookup.function_not_run(words, wanted, recording, [str(script.parent)])
    assert told.code is ErrorCode.NOT_FOUND
    assert told.message.startswith(says)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("script.py:99", "script.py has 7 lines"),
        ("script.py:7", "that line is in Two.three"),
        ("script.py:4", "that line is in no function"),
        ("pt.py:4", "there is no file pt.py in the program's own sources"),
    ],
)
def test_of_a_line_without_a_recorded_function_only_the_line_is_explained(script, words, says):
    place = function_lookup.parse_function_place(words, str(script.parent))
    error = function_lookup.function_not_run(words, place, Recording(), [str(script.parent)])
    assert error.message == f"no function with {words} ran; {says}"


def test_an_address_is_no_place_here():
    with pytest.raises(DebuggerError):
        function_lookup.parse_function_place("*0x10", "/")


def test_places_of_files_that_cannot_be_read_mean_nothing():
    assert function_lookup.lines_of("/no/such/file.py") == []
    assert function_lookup.line_text("/no/such/file.py", 3) == ""
    assert source_search.find_defined(FunctionPlace(name="x"), ["/no/such"]) == ([], ())


def test_a_function_of_kotlin_has_the_package_of_its_file_and_not_its_folder(tmp_path):
    path = tmp_path / "Shop.kt"
    path.write_text("package shop.bugs\n\nfun postage() = 4\n")
    one = RecordedFunction(1, "ShopKt.postage", str(path), 3)
    recording = Recording(functions={1: one})
    for words in ("shop.bugs.postage", "bugs.ShopKt.postage", "postage"):
        place = function_lookup.parse_function_place(words, str(tmp_path))
        assert function_lookup.function_matcher(place, recording)(one), words
    other = function_lookup.parse_function_place("shop.cart.postage", str(tmp_path))
    assert not function_lookup.function_matcher(other, recording)(one)


@pytest.mark.parametrize(
    ("pattern", "found", "parsed"),
    [
        ("Two.*", ["Two.three"], ["script.py"]),
        ("T[a-w]o.thr*", ["Two.three"], ["script.py"]),
        ("*_four", ["make_four"], ["more.py"]),
        ("*", ["make_four", "one", "Two.three"], ["more.py", "script.py"]),
    ],
)
def test_for_a_pattern_only_sources_with_its_words_are_parsed(
    script, monkeypatch, pattern, found, parsed
):
    """Parsing a project of a thousand files takes 8 seconds, in which the daemon answers nobody."""
    (script.parent / "more.py").write_text("def make_four():\n    return 4\n")
    texts = []
    parse = source_search.parse_source
    monkeypatch.setattr(
        source_search, "parse_source", lambda text: texts.append(text) or parse(text)
    )
    search = source_search.search_sources(FunctionPlace(pattern), [str(script.parent)])
    assert sorted(one.name for one in search.found) == sorted(found)
    assert sorted(texts) == sorted((script.parent / one).read_text() for one in parsed)


@pytest.mark.parametrize(
    ("name", "near", "parsed"),
    [
        ("make_for", ("make_four",), ["more.py"]),
        ("thre", ("Two.three",), ["script.py"]),
        ("twice_", ("twice",), ["later.py"]),
        ("quoted_", (), ["quoted.py"]),
        ("nowhere_at_all", (), []),
    ],
)
def test_for_near_names_only_the_sources_that_have_them_are_parsed(
    script, monkeypatch, name, near, parsed
):
    """A name that a project of a thousand files has not took 6 seconds."""
    texts = {
        "more.py": "def make_four():\n    return 4\n",
        "later.py": "twice: Callable[[int], int] = (\n    lambda n: 2 * n\n)\n",
        "quoted.py": 'TEXT = """\ndef quoted():\n    pass\n"""\n',
    }
    for file, text in texts.items():
        (script.parent / file).write_text(text)
    seen = []
    parse = source_search.parse_source
    monkeypatch.setattr(
        source_search, "parse_source", lambda text: seen.append(text) or parse(text)
    )
    search = source_search.search_sources(FunctionPlace(name), [str(script.parent)])
    assert search.near == near
    assert seen == [(script.parent / one).read_text() for one in parsed]
