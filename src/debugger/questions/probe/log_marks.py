"""Writes a logpoint for several values, so that their contents cannot be mistaken for marks. Pure.

A mark stands before each value, and at the end, that no value can hold: a debugger writes control
characters as escapes, and where it would not, the expression does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.questions.probe.probe_table import ProbeCell

_MARK = "\x1f"
_WORD = "|~6b1f0a2e|"  # where no control character is taken
_THREADS = {
    "gdb": "$_thread",
    "delve": "runtime.curg.goid",
    "debugpy": "__import__('threading').get_ident()",
}
_LLDBS = frozenset({"lldb-dap", "lldb", "codelldb"})
_MORE = re.compile(r"\((\d+) more hits, too many a second to be logged\)\Z")
# How the debuggers write that there is no value.
_ERROR = re.compile(
    r"<(error: .*|No symbol .*|Cannot access .*|[A-Za-z]*Error: .*|could not .*"
    r"|(?:value has been )?optimized out|not available)>\Z",
    re.DOTALL,
)
_LINE_END = re.compile(r"\n|\\n")  # LLDB escapes it in a logpoint's text
_NOT_AVAILABLE = re.compile(r"couldn't get the value of variable (\S+): variable not available")
_DELVE_ERROR = re.compile(r"\{(could not .*|.* has no .*|unknown .*)\}\Z", re.DOTALL)
# The address of a text says nothing that is the same in the next run.
_POINTED = re.compile(r"0x[0-9a-f]+ (?=\")")
# LLDB pads addresses, and writes behind the case of a Rust enum how it is stored.
_PADDED = re.compile(r'("(?:[^"\\]|\\.)*")|\b0x0+(?=[0-9a-f])')
_STORED = re.compile(r"(?:(?<= )(\w+))?\{\$variants\$:.*", re.DOTALL)
_LLDB_ERROR = re.compile(r"(?:\{Error: |error: )+(?:<user expression \d+>:\d+:\d+: )?([^\n\\]+)")
# JSON where it loses nothing, else what Node itself writes of a value (util.inspect). The user's
# expression is outside of all functions that have names of ours.
_JS_WHOLE = (
    "let whole=1;const plain=x=>{const up=Object.getPrototypeOf(x);"
    "return Array.isArray(x)||up===null||Object.getPrototypeOf(up)===null};let text;"
    "try{text=plain(v)?JSON.stringify(v,function(k,x){const y=this[k],t=typeof y;"
    "if(t!=='string'&&t!=='boolean'&&y!==null&&!(t==='number'&&isFinite(y)&&!Object.is(y,-0))&&"
    "!(t==='object'&&plain(y)))whole=0;return whole?x:0}):(whole=0)}catch{whole=0}"
    "const inspect=globalThis.process?.getBuiltinModule?.('util')?.inspect;"
    "if(!whole)text=inspect?inspect(v,{depth:3,breakLength:Infinity,customInspect:false,"
    "maxArrayLength:20,maxStringLength:200}):JSON.stringify(v);"
)
_JS = (
    "(()=>{try{return(v=>{if(typeof v==='string')return JSON.stringify(v);"
    "if(typeof v==='bigint')return String(v)+'n';"
    "if(typeof v==='function')return 'function '+v.name;"
    "if(typeof v!=='object'||v===null)return Object.is(v,-0)?'-0':String(v);"
    f"{_JS_WHOLE}return text.replace(/\\n +(?:at|\\.{{3}}) .*?( \\x7b)?(?=\\n|$)/g,"
    "'$1').replace(/\\n */g,' ')"
    ".slice(0,300)})(%s)}"
    "catch(e){return '<'+e+'>'}})()"
)


def logpoint_text(expressions: Sequence[str], adapter: str, language: str) -> str:
    """Return what a logpoint of an adapter is to print."""
    thread = _THREADS.get(adapter)
    parts = [thread] if thread is not None else []
    parts += [_requested_expression(one, adapter, language) for one in expressions]
    mark = _mark_text(adapter)
    return "".join(f"{mark}{{{one}}}" for one in parts) + mark


def _mark_text(adapter: str) -> str:
    return _WORD if adapter == "lldb" else _MARK


def _requested_expression(expression: str, adapter: str, language: str) -> str:
    if adapter == "js-debug" or language == "javascript":
        return _JS % expression
    if adapter == "debugpy":
        return f"repr({expression})"
    return expression


def parse_cells(printed: str, count: int, adapter: str) -> tuple[int | None, tuple[ProbeCell, ...]]:
    """Return the thread, where it is told, and the values of a line that a logpoint printed.

    What has other parts than were asked for is an error of all of them.
    """
    before, *values = printed.split(_mark_text(adapter))
    has_thread = adapter in _THREADS
    if before.strip() or len(values) != count + has_thread + 1:
        said = " ".join(printed.replace(_MARK, " ").split())[-200:]
        return None, (ProbeCell(said or "nothing was told", is_error=True),) * count
    values = values[:-1]
    number = values[0].partition(" = ")[0] if has_thread else ""  # delve's is `7 = 0x7`
    thread = int(number) if number.isdecimal() else None
    return thread, tuple(_parse_cell(one, adapter) for one in values[int(has_thread) :])


def _parse_cell(value: str, adapter: str) -> ProbeCell:
    said = value.strip()
    wrong = _ERROR.match(said) or (_DELVE_ERROR.match(said) if adapter == "delve" else None)
    if adapter in _LLDBS and (gone := _NOT_AVAILABLE.search(said)) is not None:
        return ProbeCell(f"{gone[1]} is optimized out", is_error=True)
    if wrong is not None:
        said = wrong[1]
    if adapter in _LLDBS and (told := _LLDB_ERROR.match(said)) is not None:
        return ProbeCell(told[1].strip(), is_error=True)
    if wrong is not None:
        return ProbeCell(_LINE_END.split(said.removeprefix("error: "))[0], is_error=True)
    if adapter in _LLDBS:
        said = _PADDED.sub(lambda match: match[1] or "0x", said)
        said = _STORED.sub(lambda match: f"{match[1] or ''}{{...}}", said)
    said = _POINTED.sub("", said, count=1) if _POINTED.match(said) else said
    return ProbeCell(" ".join(said.split()) if "\n" in said else said)


def parse_missed(printed: str) -> int:
    """Return how many hits a backend says that it did not tell of."""
    found = _MORE.match(printed)
    return int(found[1]) if found is not None else 0
