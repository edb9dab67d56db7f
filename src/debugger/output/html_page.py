"""Builds the files for people: a page of HTML without scripts, or one picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from debugger.output.markup import Markup, element, join_markup
from debugger.output.picture_style import PAGE_CSS, PICTURE_CSS

# Near the beginning of each file that is written for a person; such a file may be replaced.
MADE_BY = "Made by debugger"
HTML_HEAD = "<!doctype html>\n<!-- " + MADE_BY + " -->\n"
# A page that a value got into, past all escaping, could still run and load nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


def build_page(title: str, body: Iterable[str], *, css: str = "") -> str:
    """Build a page with a title, which is also its heading."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(f"{PAGE_CSS}{PICTURE_CSS}{css}")),
    )
    main = element("main", element("h1", title), *body)
    return f"{HTML_HEAD}{element('html', head, element('body', main), lang='en')}\n"


def picture_file_text(picture: str) -> str:
    """Return the text of a file that holds one SVG picture."""
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {MADE_BY} -->\n{picture}\n'


def preformatted(text: str) -> Markup:
    """Build a block of text with its own line breaks."""
    return element("pre", text.rstrip("\n") or " ", tabindex="0")


def folded_block(title: str, *content: str, is_open: bool = False) -> Markup:
    """Build a block that a click on its title shows and hides."""
    return element("details", element("summary", title), *content, open=is_open)


def build_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Build a table in a box of its own, which scrolls sideways."""
    titles = element("thead", element("tr", *(element("th", one, scope="col") for one in head)))
    body = element(
        "tbody",
        *(element("tr", *(element("td", element("code", cell)) for cell in row)) for row in rows),
    )
    return element("div", element("table", titles, body), class_="scroll", tabindex="0")


def command_block(command: str, cwd: str = "") -> Markup:
    """Build the block that shows how to ask the question again."""
    where = element("span", f"in {cwd}", class_="quiet") if cwd else Markup("")
    return join_markup(preformatted(command), where)
