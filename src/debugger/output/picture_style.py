"""Holds the colours and fonts of pictures, for colour-blind readers too, in light and dark."""

from __future__ import annotations

from debugger.output.markup import Markup

# Okabe and Ito's colours, which readers with any kind of colour blindness tell apart; darker ones
# on white, where they also serve for text. Each stands with a shape, a dash or a word besides.
_SERIES_LIGHT = ("#0060a0", "#b84a00", "#00734f", "#9c4f80", "#8a6d00", "#4a4a4a")
_SERIES_DARK = ("#56b4e9", "#f0a04b", "#2fc79a", "#e29ac6", "#f0e442", "#c8c8c8")
SERIES_MOST = len(_SERIES_LIGHT)

MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def _series_rules(colours: tuple[str, ...]) -> str:
    return "".join(
        f".s{at} {{ stroke: {one}; }} .f{at} {{ fill: {one}; }}" for at, one in enumerate(colours)
    )


def _picture_rules(
    *, page: str, ink: str, quiet: str, grid: str, box: str, mark: str, series: tuple[str, ...]
) -> str:
    return (
        f".paper {{ fill: {page}; }} .halo {{ stroke: {page}; }}"
        f".ink {{ fill: {ink}; }} .quiet {{ fill: {quiet}; }}"
        f".grid {{ stroke: {grid}; }} .axis {{ stroke: {quiet}; }}"
        f".box {{ fill: {box}; stroke: {quiet}; }} .edge {{ stroke: {ink}; }}"
        f".tip {{ fill: {ink}; }} .hot {{ stroke: {mark}; }} .hotfill {{ fill: {mark}; }}"
        f"{_series_rules(series)}"
    )


# A standalone picture has no variables of CSS: not every program that draws SVG knows them.
_LIGHT = _picture_rules(
    page="#ffffff",
    ink="#1a1a1a",
    quiet="#595959",
    grid="#e3e3e3",
    box="#f4f6f8",
    mark="#b3003c",
    series=_SERIES_LIGHT,
)
_DARK = _picture_rules(
    page="#16181c",
    ink="#ececec",
    quiet="#a9adb3",
    grid="#33373d",
    box="#22262c",
    mark="#ff7a9c",
    series=_SERIES_DARK,
)
PICTURE_CSS = Markup(
    f".picture text {{ font: 12px {_SANS}; }} .picture .code {{ font-family: {MONOSPACE}; }}"
    ".picture .title { font-size: 15px; font-weight: 600; }"
    ".picture .strong { font-weight: 600; } .picture .small { font-size: 11px; }"
    ".line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }"
    ".dashed { stroke-dasharray: 6 4; } .dotted { stroke-dasharray: 2 3; }"
    ".grid, .axis { stroke-width: 1; } .edge, .hot { fill: none; stroke-width: 1.6; }"
    ".box { stroke-width: 1; } .band { opacity: .16; stroke: none; }"
    ".halo { paint-order: stroke; stroke-width: 4; stroke-linejoin: round; }"
    f"{_LIGHT} @media (prefers-color-scheme: dark) {{ {_DARK} }}"
)

PAGE_CSS = Markup(
    ":root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --quiet: #595959;"
    " --line: #d5d8dc; --box: #f4f6f8; --bar: #cfe3f3; --hot: #b3003c; --link: #0060a0; }"
    "@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #ececec;"
    " --quiet: #a9adb3; --line: #3a3f46; --box: #22262c; --bar: #1f4a66; --hot: #ff7a9c;"
    " --link: #56b4e9; } }"
    "* { box-sizing: border-box; }"
    f"body {{ margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 72rem;"
    f" background: var(--paper); color: var(--ink); font: 15px/1.5 {_SANS}; }}"
    "h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .5rem; overflow-wrap: anywhere; }"
    "h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }"
    "h3 { font-size: 1rem; margin: 1rem 0 .3rem; }"
    f"pre, code, .code {{ font-family: {MONOSPACE}; font-size: 13px; }}"
    "pre { max-height: 26rem; margin: .5rem 0; padding: .7rem .9rem; overflow: auto;"
    " background: var(--box); border: 1px solid var(--line); border-radius: 6px;"
    " white-space: pre-wrap; overflow-wrap: anywhere; }"
    ".quiet { color: var(--quiet); } .hot { color: var(--hot); font-weight: 600; }"
    "svg { max-width: 100%; height: auto; }"
    ".scroll { overflow-x: auto; }"
    "table { border-collapse: collapse; font-size: 13px; }"
    "th, td { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top;"
    " border-bottom: 1px solid var(--line); } td.number { text-align: right; }"
    "summary { cursor: pointer; } summary:focus-visible { outline: 2px solid var(--link); }"
    "a { color: var(--link); }"
)
