// Counts the functions and blocks of the program's own scripts by rewriting them as they are loaded,
// and writes the counts in V8's form at the end. V8's own counters would slow every script down, and
// twice as much: they count from the first script on that cannot be rewritten, and that one alone.
'use strict';
const fs = require('fs');
const path = require('path');
const { threadId } = require('worker_threads');
const { pathToFileURL } = require('url');
const { Session } = require('inspector');
const { takeCoverage } = require('v8');
const { INSERTED, OPEN, PREFIX, countBlocks, rangesOf } = require('./block_counters.cjs');
const { isBelow, isInstalled, rewriteLoaded } = require('./own_scripts.cjs');
const requireInternal = require('./node_internals.cjs');
const { RewrittenScripts } = require('./rewritten_scripts.cjs');

const SOURCE_MAX = 1 << 20; // characters of a script: to read more takes longer than to count it
const TOTAL_MAX = 4 << 20;
const LINE_MAX = 2000; // on an average: what is longer was written by a program
const MAPPED_LINE_MAX = 200; // the same, where Node writes stack traces by the source map: columns count
const MAP_LINE = /^[ \t]*\/\/[#@] sourceMappingURL=(data:)?[^\n]*$/gm;
const LINE_END = /[\n\u2028\u2029]/; // of the lines whose lengths belong to a source map
const STRIPPED = /\n\n\/\/# sourceURL=[^\n]*$/; // Node adds it to a script whose types it has removed

const scripts = []; // {url, file, readFunctions, counts, sums, lineLengths}
const uncounted = new Set(); // the addresses of the scripts that V8 counts
const session = new Session();
let total = 0; // characters of the scripts that are rewritten

// How V8 counts is the same for all sessions: Node has begun with all it can, and writes at the end.
function chooseCounting(isWhole) {
  session.post('Profiler.startPreciseCoverage', { callCount: isWhole, detailed: isWhole });
}

function isOfFile(text, file) {
  try {
    const own = fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    // Types are replaced by spaces.
    return own === text || (/\.[cm]?ts$/.test(file) && text.length === own.length);
  } catch {
    return false;
  }
}

function averageLine(text) {
  return text.length / (text.split('\n').length + 1);
}

// A script is what its file has, or was made of a source that its map holds.
function isRewritable(text, file, maps) {
  const code = text.replace(MAP_LINE, '');
  const lineMax = maps.length && process.sourceMapsEnabled ? MAPPED_LINE_MAX : LINE_MAX;
  if (code.length > SOURCE_MAX || total > TOTAL_MAX || averageLine(code) >= lineMax) return false;
  if (maps.length && !readMaps) return false;
  return maps.some(([, isInline]) => isInline) || isOfFile(text, file);
}

function countByV8(url) {
  if (!uncounted.size) chooseCounting(true);
  uncounted.add(url);
}

let readMaps = null; // Node's function that gives the source maps of the loaded scripts, by address

function findMapReader() {
  try {
    return requireInternal('internal/source_map/source_map_cache').sourceMapCacheToObject;
  } catch {
    return null;
  }
}

function makeRewriter(rewritten, roots) {
  return (text, file, isModule, address) => {
    // A script may come by more than one way, and is rewritten once.
    if (isInstalled(file) || !isBelow(file, roots) || text.includes(OPEN)) return text;
    const url = address ?? pathToFileURL(file).href;
    const plain = text.replace(STRIPPED, '');
    try {
      const maps = [...plain.matchAll(MAP_LINE)];
      if (isRewritable(plain, file, maps)) {
        const made = rewritten.rewrite(plain, isModule, scripts.length);
        const counts = new Uint32Array(made.cells);
        const sums = new Float64Array(made.cells); // of loops
        Object.defineProperty(globalThis, made.name, { value: counts });
        Object.defineProperty(globalThis, `${made.name}s`, { value: sums });
        const lineLengths = maps.length ? plain.split(LINE_END).map((line) => line.length) : null;
        scripts.push({ url, file, counts, sums, lineLengths, readFunctions: made.readFunctions });
        total += text.length;
        return made.code + text.slice(plain.length);
      }
    } catch {
      // It is no JavaScript, or newer than the parser.
    }
    countByV8(url);
    return text;
  };
}

// Loops add their counters when they end. Of those that `process.exit` has left, V8 shows the local
// variables: in a session within the process the answers are there while it stands at `debugger`.
function addRunningLoops() {
  const reader = new Session();
  reader.connect();
  reader.on('Debugger.paused', ({ params: { callFrames } }) => {
    for (const { scopeChain } of callFrames) {
      for (const { type, object } of scopeChain) {
        if (type !== 'block' && type !== 'local') continue;
        reader.post('Runtime.getProperties', { objectId: object.objectId, ownProperties: true }, (error, found) => {
          for (const { name, value } of found?.result ?? []) addLocal(name, value?.value);
        });
      }
    }
  });
  reader.post('Debugger.enable');
  debugger;
  // It stays connected: without a debugger V8 forgets its counts of blocks.
}

const LOCAL = new RegExp(`^${PREFIX}(\\d+)_(\\d+)$`);

function addLocal(name, value) {
  const found = LOCAL.exec(name);
  if (found && value > 0) scripts[found[1]].sums[found[2]] += value;
}

function isRunning() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = Infinity;
  Error.prepareStackTrace = (error, sites) => sites.map((one) => one.getFileName());
  const files = new Set(new Error().stack);
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return scripts.some(({ url, file }) => files.has(url) || files.has(file));
}

// The source maps as Node has them, with the lengths of the lines as they were before the rewriting.
function mapsOf(mapped) {
  if (!mapped.length) return {};
  const known = readMaps() ?? {};
  const entries = mapped.map(({ url, lineLengths }) => [url, { ...known[url], lineLengths }]);
  return Object.fromEntries(entries.filter(([, { data }]) => data));
}

function writeCounts(folder) {
  if (isRunning()) addRunningLoops();
  const counted = scripts
    .map((one) => ({ ...one, counts: one.sums.map((sum, cell) => sum + one.counts[cell]) }))
    .filter(({ counts }) => counts.some((one) => one > 0));
  const result = counted.map(({ url, readFunctions, counts }) => ({
    url,
    functions: readFunctions().map((fn) => ({
      functionName: fn.name, ranges: rangesOf(fn, counts), isBlockCoverage: true,
    })),
  }));
  const maps = mapsOf(counted.filter((one) => one.lineLengths));
  const name = `counts-${process.pid}-${Date.now()}-${threadId}.json`;
  const written = { result, uncounted: [...uncounted], 'source-map-cache': maps };
  fs.writeFileSync(path.join(folder, name), JSON.stringify(written));
}

// A program may read the text of its own functions, and run it elsewhere.
function hideCounters() {
  const { toString } = Function.prototype;
  const texts = new WeakMap();
  const replaced = {
    toString() {
      const text = texts.get(this) ?? toString.call(this);
      return text.includes(PREFIX) ? text.replace(INSERTED, '') : text;
    },
  }.toString;
  texts.set(replaced, toString.call(toString));
  Object.defineProperty(Function.prototype, 'toString', { value: replaced, configurable: true, writable: true });
}

// Returns what writes the counts; without Node's own modules V8 goes on counting.
module.exports = function countOwn(folder, roots, cache) {
  let acorn;
  try {
    acorn = requireInternal('internal/deps/acorn/acorn/dist/acorn');
  } catch {
    return takeCoverage;
  }
  session.connect();
  session.post('Profiler.enable');
  chooseCounting(false);
  hideCounters();
  readMaps = findMapReader();
  rewriteLoaded(makeRewriter(new RewrittenScripts(acorn, cache), roots), () => {});
  let isWritten = false;
  const write = () => {
    if (!isWritten) writeCounts(folder);
    isWritten = true;
  };
  const writeAll = () => {
    write();
    if (uncounted.size) takeCoverage();
  };
  // Behind all listeners of the program.
  const { emit } = process;
  process.emit = function emitAndWrite(name, ...rest) {
    const isHeard = emit.call(this, name, ...rest);
    if (name === 'exit') write();
    return isHeard;
  };
  return writeAll;
};
