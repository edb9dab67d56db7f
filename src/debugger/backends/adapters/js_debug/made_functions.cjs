// Finds functions in the scripts that a program makes of texts (`eval`, `new Function`, `vm`), and sets
// breakpoints in them. js-debug hears of such a script when its code may have run already; a session
// within the process hears of it before the first statement (V8 11.3).
'use strict';
const { existsSync, readFileSync } = require('fs');
const inspector = require('inspector');
const { fileURLToPath } = require('url');

const SCRIPTS_MAX = 2000; // that are searched
const TEXT_MAX = 1 << 20; // characters of one
const OWN = /\/\/# sourceURL=[^\n]*\.cdp\s*$|debuggerCliShared|debugger-cli/; // of js-debug, and conditions
// What a text begins with that is one function; an arrow function may be in brackets.
const HEADS = [
  /^\s*\(?\s*(?:async\s*)?function\s*\*?\s*[\w$]*(?=\s*\()/,
  /^\s*\(?\s*(?:async\s*)?(?=\([^()]*\)\s*=>|[\w$]+\s*=>)/,
];
const CALLED = /\)\s*\([^()]*\)\s*;?\s*$/; // at once: the variable gets its result
const MAKES = /(?:([\w$]+)\s*[=:]|\breturn)[^=;]*(?:\bFunction\s*\(|\beval\s*\(|\brun\w*\s*\(|\bcompileFunction\s*\(|\bnew\s+[\w.]*Script\b)/;

const session = new inspector.Session();
const scripts = []; // {scriptId, source, name, startLine, startColumn}
let orders = []; // {id, name, condition}
let set = new Map(); // the order's number by V8's name of a breakpoint
let hits = [];
let unfound = new Set(); // orders that the texts up to the bound did not have
let isEnabled = false;

// Of a session within the process, the answer is there when `post` returns.
function ask(method, params) {
  let answer = {};
  session.post(method, params, (error, result) => {
    answer = error ? {} : result;
  });
  return answer;
}

// The variable that gets what a statement makes; the line is that of the caller.
function assignedName({ url, lineNumber } = {}) {
  try {
    const file = url.startsWith('file://') ? fileURLToPath(url) : url;
    return MAKES.exec(readFileSync(file, 'utf8').split('\n')[lineNumber])?.[1] ?? '';
  } catch {
    return '';
  }
}

const isOfProgram = ({ url }) => url.startsWith('file://') || url.startsWith('/');

// The offset behind the bracket that closes the one before `at`; -1 without one.
function skipBrackets(source, at) {
  for (let depth = 1, here = at; here < source.length; here++) {
    const one = source[here];
    if (one === '"' || one === "'" || one === '`') {
      for (here += 1; here < source.length && source[here] !== one; here++) if (source[here] === '\\') here += 1;
    } else if ('([{'.includes(one)) depth += 1;
    else if (')]}'.includes(one) && --depth === 0) return here + 1;
  }
  return -1;
}

// The offset at which a function's body begins; `at` is behind its name or its first keyword.
function bodyStart(source, at) {
  const single = /^\s*[\w$]+\s*=>/.exec(source.slice(at, at + 200));
  let end = single ? at + single[0].length : -1;
  if (!single) {
    const open = source.indexOf('(', at);
    end = open < 0 ? -1 : skipBrackets(source, open + 1);
  }
  if (end < 0) return -1;
  const rest = /^(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)*(=>)?(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)*(\{)?/.exec(source.slice(end));
  return rest[2] || rest[1] || single ? end + rest[0].length : -1;
}

function* bodiesOf({ source, name: own }, wanted) {
  const [owner, name] = wanted.includes('.') ? wanted.split('.').slice(-2) : ['', wanted];
  const quoted = name.replace(/[$]/g, '\\$&');
  if (wanted === own && !CALLED.test(source)) {
    const head = HEADS.map((one) => one.exec(source)).find(Boolean);
    if (head) yield bodyStart(source, head[0].length);
  }
  if (owner && !new RegExp(`\\b${owner}\\b`).test(source)) return;
  const places = [
    `\\bfunction\\s*\\*?\\s*${quoted}(?=\\s*\\()`,
    `(?<![\\w$])${quoted}\\s*[=:]\\s*(?:async\\s*)?(?:function\\s*\\*?\\s*[\\w$]*(?=\\s*\\()|(?=\\(|[\\w$]+\\s*=>))`,
    `(?<=^|[{};,]\\s*|\\b(?:async|static|get|set)\\s+|\\*\\s*)${quoted}(?=\\s*\\()`,
  ];
  for (const one of places) {
    for (const { 0: text, index } of source.matchAll(new RegExp(one, 'g'))) yield bodyStart(source, index + text.length);
  }
}

function locationOf({ scriptId, source, startLine, startColumn }, offset) {
  const lines = source.slice(0, offset).split('\n');
  const columnNumber = lines.at(-1).length + (lines.length === 1 ? startColumn : 0);
  const start = { scriptId, lineNumber: startLine + lines.length - 1, columnNumber };
  return ask('Debugger.getPossibleBreakpoints', { start, restrictToFunction: true }).locations?.[0] ?? start;
}

function setIn(script) {
  for (const { id, name, condition } of orders) {
    const places = new Set([...bodiesOf(script, name)].filter((at) => at >= 0));
    for (const at of places) {
      const location = locationOf(script, at);
      const { scriptId, lineNumber, columnNumber } = location;
      const { breakpointId } = ask('Debugger.setBreakpoint', { location: { scriptId, lineNumber, columnNumber }, condition });
      if (!breakpointId) continue;
      set.set(breakpointId, id);
      inspector.console.log(`[[made ${id}]] ${lineNumber + 1}`);
    }
  }
}

// Once for each breakpoint that is in none of the texts that were searched.
function noteFull() {
  const found = new Set(set.values());
  for (const { id, name } of orders) {
    if (!found.has(id) && !unfound.has(id)) inspector.console.log(`[[made ${id}]] none of ${SCRIPTS_MAX} ${name}`);
    unfound.add(id);
  }
}

function note({ scriptId, url, startLine, startColumn, length, stackTrace }) {
  const isFile = url.startsWith('node:') || url.startsWith('file:') || (url.startsWith('/') && existsSync(url));
  if (isFile || url.endsWith('.cdp') || length > TEXT_MAX) return;
  if (scripts.length >= SCRIPTS_MAX) {
    noteFull();
    return;
  }
  const source = ask('Debugger.getScriptSource', { scriptId }).scriptSource ?? '';
  if (!source || OWN.test(source)) return;
  const name = assignedName(stackTrace?.callFrames.find(isOfProgram));
  const script = { scriptId, source, name, startLine, startColumn };
  scripts.push(script);
  setIn(script);
}

// Replaces the breakpoints, or returns those that the program stands at.
module.exports = function setInMadeScripts(wanted) {
  if (!wanted) return JSON.stringify(hits);
  for (const breakpointId of set.keys()) ask('Debugger.removeBreakpoint', { breakpointId });
  [orders, set, unfound] = [wanted, new Map(), new Set()];
  if (!isEnabled) {
    isEnabled = true;
    session.connect();
    session.on('Debugger.paused', ({ params }) => {
      hits = (params.hitBreakpoints ?? []).map((one) => set.get(one)).filter((one) => one !== undefined);
    });
    session.on('Debugger.scriptParsed', ({ params }) => note(params));
    ask('Debugger.enable');
  } else for (const one of scripts) setIn(one);
  return '';
};
