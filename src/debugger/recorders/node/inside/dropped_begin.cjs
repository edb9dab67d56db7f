// Loaded before a test: finds the statements whose value is a promise that nobody ever awaits. Each
// statement that only evaluates an expression reports its value, and V8 tells who awaits it.
'use strict';
const fs = require('fs');
const { promiseHooks } = require('v8');
const { childrenOf } = require('./origin_scopes.cjs');
const requireInternal = require('./node_internals.cjs');
const { isBelow, isInstalled, rewriteLoaded } = require('./own_scripts.cjs');

const SOURCE_MAX = 16 << 20; // characters of one script
const OF_A_STATEMENT = 16; // promises that are kept
const KEPT_MAX = 2000;
const ROWS_MAX = 50;
const FRAMES = 4; // Node's hook, Promise's own functions, and their caller
const REPORT = '__dbg_dropped';
const STATES = ['pending', 'fulfilled', 'rejected'];

if (!process.env.DEBUGGER_DROPPED_ORDER) return; // a child process of the test
const { getPromiseDetails } = requireInternal('internal/test/binding').internalBinding('util');

const order = JSON.parse(fs.readFileSync(process.env.DEBUGGER_DROPPED_ORDER, 'utf8'));
delete process.env.DEBUGGER_DROPPED_ORDER;
const acorn = requireInternal('internal/deps/acorn/acorn/dist/acorn');
const sites = [];
const insertions = new Map(); // of a file: what was put into its lines, `{line, column, text}`
const handled = new WeakSet();
const makings = new WeakMap();
let kept = 0;

// Tells whether a statement's expression discards its value. What is assigned is kept, and `void`
// says that nobody is to await it; so does a handler of the promise's failure.
function isDiscarding(node) {
  switch (node.type) {
    case 'Identifier': case 'MemberExpression': case 'NewExpression': case 'TaggedTemplateExpression':
      return true;
    case 'CallExpression': {
      const name = node.callee.property?.name;
      return name !== 'catch' && !(name === 'then' && node.arguments.length > 1);
    }
    case 'ChainExpression': return isDiscarding(node.expression);
    case 'LogicalExpression': return isDiscarding(node.right);
    case 'ConditionalExpression': return isDiscarding(node.consequent) && isDiscarding(node.alternate);
    default: return false;
  }
}

function nameOf(node, parent) {
  return (node.id ?? parent?.key ?? parent?.id ?? parent?.left?.property ?? parent?.left)?.name;
}

function rewriteStatements(source, file, isModule) {
  const program = acorn.parse(source, {
    ecmaVersion: 'latest', sourceType: isModule ? 'module' : 'script', locations: true,
    allowHashBang: true, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: isModule,
    allowSuperOutsideMethod: true,
  });
  const inserted = [];
  const walk = (node, parent, name, depth) => {
    const isFunction = /Function/.test(node.type);
    const inner = isFunction ? nameOf(node, parent) ?? name : name;
    // At the top level is what begins a program, such as its tests.
    if (node.type === 'ExpressionStatement' && !node.directive && depth > 0 && isDiscarding(node.expression)) {
      const { start, end, loc } = node.expression;
      const isChained = ['then', 'finally'].includes(node.expression.callee?.property?.name);
      sites.push({
        file, line: loc.start.line, column: loc.start.column + 1, function: name, is_chained: isChained, promises: [],
      });
      inserted.push(
        { offset: start, ...loc.start, text: `${REPORT}(${sites.length - 1},(` }, { offset: end, ...loc.end, text: '))' },
      );
    }
    for (const one of childrenOf(node)) walk(one, node, inner, depth + isFunction);
  };
  walk(program, null, '', 0);
  let [code, at] = ['', 0];
  inserted.sort((one, other) => one.offset - other.offset);
  insertions.set(file, inserted);
  for (const { offset, text } of inserted) {
    code += source.slice(at, offset) + text;
    at = offset;
  }
  return code + source.slice(at);
}

function rewriteScript(source, file, isModule) {
  if (isInstalled(file) || !isBelow(file, order.roots) || source.length > SOURCE_MAX) return source;
  try {
    return rewriteStatements(source, file, isModule);
  } catch {
    return source; // it is no JavaScript: there is nothing to find in it
  }
}

function report(number, value) {
  const site = sites[number];
  if (value instanceof Promise && site.promises.length < OF_A_STATEMENT && kept < KEPT_MAX) {
    kept += 1;
    site.promises.push({ promise: value, wasPending: stateOf(value) === 'pending' });
  }
  return value;
}

// The place that made a promise, if that is in the program's own code.
function madeAt(promise) {
  const lines = String(makings.get(promise)?.stack ?? '').split('\n').slice(1);
  const frame = lines.find((one) => !/<anonymous>\)$|node:internal\/\w+_hooks:/.test(one)) ?? '';
  const match = /^\s*at (?:async )?(?:(.*?) \()?(?:file:\/\/)?([^()]*?):(\d+):(\d+)\)?$/.exec(frame);
  if (!match || isInstalled(match[2]) || !isBelow(match[2], order.roots)) return null;
  const line = Number(match[3]);
  let column = Number(match[4]);
  for (const one of insertions.get(match[2]) ?? []) {
    if (one.line === line && column > one.column + one.text.length) column -= one.text.length;
  }
  return { file: match[2], line, column, function: match[1] ?? '' };
}

const stateOf = (promise) => STATES[getPromiseDetails(promise)[0]];

// Of a promise that was fulfilled at once nobody misses anything.
function isLost({ promise, wasPending }) {
  return (wasPending || stateOf(promise) === 'rejected') && !handled.has(promise) && madeAt(promise) !== null;
}

function rowsOf() {
  const rows = [];
  for (const site of sites) {
    const { promises, ...where } = site;
    const lost = promises.filter(isLost).map((one) => one.promise);
    if (!lost.length) continue;
    rows.push({ ...where, count: lost.length, state: stateOf(lost[0]), made: madeAt(lost[0]) });
  }
  return rows.slice(0, ROWS_MAX);
}

function noteMaking(promise, parent) {
  if (parent) handled.add(parent);
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const making = {};
  Error.captureStackTrace(making, noteMaking);
  Error.stackTraceLimit = limit;
  makings.set(promise, making);
}

promiseHooks.onInit(noteMaking);

process.on('exit', () => {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = undefined;
  fs.writeFileSync(order.result, JSON.stringify(rowsOf()));
  Error.prepareStackTrace = prepareStackTrace;
});

rewriteLoaded(rewriteScript, () => {});
Object.defineProperty(globalThis, REPORT, { value: report, enumerable: false });
