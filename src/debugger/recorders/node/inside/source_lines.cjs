// Finds the lines of the sources that a compiled script was made of, by its source map.
'use strict';
const fs = require('fs');
const path = require('path');
const { SourceMap } = require('module');
const { fileURLToPath } = require('url');

const LINE_MAX = 500; // characters in which a line's first code is
const MAPPED = /^[ \t]*\/\/[#@] sourceMappingURL=(\S+)[ \t]*$/gm;

function readPayload(url, file) {
  const inline = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url);
  if (!inline) {
    const map = path.resolve(path.dirname(file), decodeURIComponent(url));
    return [JSON.parse(fs.readFileSync(map, 'utf8')), map];
  }
  const text = inline[1] ? Buffer.from(inline[2], 'base64').toString() : decodeURIComponent(inline[2]);
  return [JSON.parse(text), file];
}

// webpack names a source by its path within the project of the script.
function findSource(name, root, map) {
  if (name.startsWith('file://')) return fileURLToPath(name);
  if (!name.includes('://')) return path.resolve(path.dirname(map), root, name);
  const inner = name.replace(/^[^:]*:\/\/[^/]*\//, '');
  for (let folder = path.dirname(map); ; folder = path.dirname(folder)) {
    const file = path.resolve(folder, inner);
    if (fs.existsSync(file) || folder === path.dirname(folder)) return file;
  }
}

// The sources of one script, whose text may have got insertions since it was compiled.
class SourceLines {
  constructor(payload, map, text) {
    this.map = new SourceMap(payload);
    this.files = new Map(
      payload.sources.map((name) => [name, findSource(name ?? '', payload.sourceRoot ?? '', map)]),
    );
    this.starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1);
  }

  has(file) {
    return [...this.files.values()].includes(file);
  }

  // The source location of an offset: `{file, line, name}`, or null for code that has none.
  locate(offset) {
    let [low, high] = [0, this.starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= offset) low = middle;
      else high = middle;
    }
    const found = this.map.findEntry(low, offset - this.starts[low]);
    // Of a line without an own entry the one before is found.
    if (found.originalLine === undefined || found.generatedLine !== low) return null;
    const file = this.files.get(found.originalSource) ?? null;
    const isExact = found.generatedColumn === offset - this.starts[low];
    return file && { file, line: found.originalLine + 1, name: isExact ? found.name : undefined };
  }

  // The source location of the first code in a line of the script.
  locateLine(line) {
    const start = this.starts[line - 1];
    const entry = this.map.findEntry(line - 1, Infinity);
    if (start === undefined || entry.generatedLine !== line - 1) return null;
    for (let at = start; at < (this.starts[line] ?? Infinity) && at < start + LINE_MAX; at++) {
      const found = this.locate(at);
      if (found) return found;
    }
    return null;
  }

  // Gives all nodes the lines of their sources; `offsetOf` leaves insertions out.
  place(node, childrenOf, offsetOf, around = null) {
    const own = this.locate(offsetOf(node.start));
    const [file, line] = own ? [own.file, own.line] : [around?.loc.source, around?.loc.start.line ?? 1];
    node.loc = { source: file, start: { line }, end: { line } };
    // A minifier has given the variable another name.
    if (own?.name && node.type === 'Identifier') node.original = own.name;
    for (const one of childrenOf(node)) {
      this.place(one, childrenOf, offsetOf, node);
      if (one.loc.source === file) node.loc.end.line = Math.max(node.loc.end.line, one.loc.end.line);
    }
  }
}

// Returns null for a script without a source map that can be read.
function readSourceLines(text, file) {
  const url = [...text.matchAll(MAPPED)].at(-1)?.[1];
  if (!url) return null;
  try {
    const [payload, map] = readPayload(url, file);
    return new SourceLines(payload, map, text);
  } catch {
    return null;
  }
}

module.exports = { readSourceLines };
