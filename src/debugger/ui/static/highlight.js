// Colours one line of source of any common language: words, strings, numbers, comments.

import { element } from "./dom.js";

const KEYWORDS = new Set(
  `and as assert async await break case catch chan class const continue crate def default defer del do elif else enum
  except export extends extern final finally fn for from func function global go goto if impl import in interface is
  lambda let loop match mod module mut namespace new nil nonlocal not null None or package pass private protected pub
  public raise range return select self Self sizeof static struct super switch template this throw trait try type
  typedef typeof union unsafe use using var virtual void volatile where while with yield True False true false`.split(/\s+/),
);
const HASH_COMMENTS = new Set(["py", "rb", "sh", "pl", "toml", "yaml", "yml", "R", "jl"]);
const LINE_MOST = 2000;
const token = (comment) => new RegExp(
  `(${comment})|("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|\`(?:[^\`\\\\]|\\\\.)*\`?)|\\b(\\d[\\w.]*)|([A-Za-z_$][\\w$]*)`, "g");
const HASH = token("#.*$");
const SLASHES = token("\\/\\/.*$|\\/\\*.*?(?:\\*\\/|$)");

/** Appends a line to an element, as spans. */
export function appendLine(row, text, extension) {
  if (text.length > LINE_MOST) {
    row.append(text.slice(0, LINE_MOST), element("span", { class: "faint" }, ` … ${text.length - LINE_MOST} more`));
    return;
  }
  let done = 0;
  for (const found of text.matchAll(HASH_COMMENTS.has(extension) ? HASH : SLASHES)) {
    const kind = found[1] ? "comment" : found[2] ? "string" : found[3] ? "number" : KEYWORDS.has(found[4]) ? "keyword" : null;
    if (kind === null) continue;
    row.append(text.slice(done, found.index), element("span", { class: kind }, found[0]));
    done = found.index + found[0].length;
  }
  row.append(text.slice(done));
}
