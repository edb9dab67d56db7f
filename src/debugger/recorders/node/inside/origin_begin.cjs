// Loaded before the program whose value is followed: rewrites its own scripts as they are loaded,
// evaluates the question's expression at its place, and writes the chain of links.
'use strict';
const fs = require('fs');
const path = require('path');
const { trace, hooks, MUTATING } = require('./origin_trace.cjs');
const { HOOK, hookText } = require('./origin_hook.cjs');
const { MUTATORS, rewrite } = require('./origin_sites.cjs');
const { followPattern, followValue } = require('./origin_chain.cjs');
const { isOfCall, readMadeCall } = require('./origin_calls.cjs');
const { departureOf, findDeparture } = require('./origin_departures.cjs');
const { isWatched, watchPattern } = require('./origin_patterns.cjs');
const { Changes } = require('./origin_changes.cjs');
const { MadeScripts } = require('./origin_made.cjs');
const { isBelow, isInstalled, rewriteLoaded } = require('./own_scripts.cjs');
const requireInternal = require('./node_internals.cjs');
const { readSourceLines } = require('./source_lines.cjs');

const SOURCE_MAX = 16 << 20; // characters of one script
const THROWN_MAX = 16; // hits of the line that failed, of which one is chosen
const AFTERWARDS_MS = 2000; // for writes after the place, when the program has crashed

// Child processes record, too: a program may be started by another one, as by tsx.
const order = JSON.parse(fs.readFileSync(process.env.DEBUGGER_ORIGIN_ORDER, 'utf8'));
const acorn = requireInternal('internal/deps/acorn/acorn/dist/acorn');
const state = { hits: 0, last: [], isFrozen: false, isOver: false, hooked: false, notes: [], files: 0 };
const changes = order.is_changes ? new Changes(order) : null;
const compiled = new Map(); // of a script that was compiled: the lines of its sources
const numbers = { next: 0 }; // of the next site

trace.hook = hookText(order);
for (const one of MUTATORS) MUTATING.add(one);

function isOwn(file) {
  return isBelow(file, order.roots) && (!isInstalled(file) || file === order.file);
}

function rewriteScript(source, file, isModule) {
  if (!isOwn(file) || source.length > SOURCE_MAX) return source;
  const lines = readSourceLines(source, file);
  if (lines) compiled.set(file, lines);
  const isOfPlace = lines ? lines.has(order.file) : order.file === file;
  const isPlace = order.expression && (order.file ? isOfPlace : order.function);
  try {
    const made = rewrite(acorn, source, {
      file, isModule, order: isPlace ? order : null, sites: trace.sites, base: numbers.next, lines,
    });
    numbers.next = made.next;
    state.files += 1;
    if (made.hook) trace.hook = made.hook;
    if (made.pattern) watchPattern(made.pattern);
    state.hooked ||= Boolean(made.hook ?? made.pattern);
    return made.code;
  } catch (error) {
    state.notes.push(`${path.basename(file)} was not rewritten: ${error.message}`);
    return source;
  }
}

function finish(extra) {
  if (state.isOver) return;
  state.isOver = true;
  const wanted = isWatched() ? null : chooseHit();
  if (wanted?.isMade) readMadeCall(wanted, order.line);
  let found = { value: null, links: [], hits: state.hits, hooked: state.hooked, ...extra };
  if (wanted?.error !== undefined) found.failure = wanted.error;
  else if (wanted) {
    try {
      if (order.nth < 0 && !order.is_history) wanted.departure ??= departureOf(state.error, wanted);
      found = { ...found, ...followValue(wanted, order, state) };
    } catch (error) {
      found.fault = String(error.stack ?? error).slice(0, 600);
    }
    found.located = true;
  }
  if (isWatched()) found = findTaken(found);
  if (changes) found = { ...found, changes: changes.found, hits: changes.hits, located: changes.hits > 0 };
  found.notes = state.notes;
  // Of several processes the one counts that came to the place.
  if (found.located || found.event || !fs.existsSync(order.result)) {
    fs.writeFileSync(order.result, JSON.stringify(found));
  }
}

// What the pattern of the question took apart, if the program ended by that.
function findTaken(found) {
  try {
    const taken = state.error ? followPattern(order, state.error) : null;
    return { ...found, located: true, ...(taken ?? { failure: `what ${order.expression} takes apart was not recorded` }) };
  } catch (error) {
    return { ...found, fault: String(error.stack ?? error).slice(0, 600) };
  }
}

// Of the statements of a line that failed the last one in the function that did.
function chooseHit() {
  if (order.nth > 0) return state.last[0];
  if (!order.is_thrown) return state.last.at(order.nth);
  // A function that has returned is not the one: as of parameters that failed before its own code.
  const running = state.last.filter(({ act }) => !act.result || !state.error);
  const inside = state.thrower ? running.filter(({ act }) => lastName(act.site.fn.shown) === state.thrower) : [];
  const isOver = state.last.length > 0 && !running.length;
  return isOver ? { error: 'the code that failed had not begun its statements' } : inside.at(-1) ?? running.at(-1);
}

const lastName = (name) => name.split('.').at(-1);

function finishAndExit(extra) {
  finish(extra);
  process.reallyExit(extra?.event ? 1 : 0);
}

function holds(when) {
  try {
    return !when || Boolean(when());
  } catch (error) {
    state.condition = String(error.message);
    return false;
  }
}

function meet(act, number, expression, when) {
  if (state.isFrozen || state.isOver) return;
  if (changes) {
    if (holds(when)) changes.meet(act, number, expression);
    return;
  }
  const kept = trace.current;
  if (!holds(when)) return;
  state.hits += 1;
  if (order.nth > 0 && state.hits !== order.nth) return;
  const site = trace.sites.get(number);
  const hit = { act, site, value: undefined };
  const began = trace.time;
  // A call of the statement that failed is not made again: it may give something else.
  hit.isMade = order.is_thrown && isOfCall(site.rhs);
  try {
    if (!hit.isMade) hit.value = expression();
  } catch (error) {
    hit.error = String(error.message ?? error);
  }
  trace.current = kept;
  hit.began = began;
  hit.time = ++trace.time;
  // What it is compared with may be changed later.
  if (hit.error === undefined && !order.is_history && !hit.isMade) hit.departure = findDeparture(hit, order.line);
  if (order.nth > 0) {
    state.last = [hit];
    state.isFrozen = true;
    // What is undefined here may be written later.
    if (hit.value !== undefined || hit.error !== undefined) finishAndExit();
    return;
  }
  state.last.push(hit);
  if (state.last.length > (order.is_thrown ? THROWN_MAX : -order.nth)) state.last.shift();
}

function placeOf(error) {
  for (const line of String(error?.stack ?? '').split('\n')) {
    const match = /^\s*at (?:(?:async )?(.*) \()?(?:file:\/\/)?(\/[^()]*?):(\d+):\d+\)?$/.exec(line);
    if (match && isOwn(match[2])) {
      const name = match[1]?.replace(/^new | \[as .*\]$/g, '') ?? '<anonymous>';
      return { ...sourceOf(match[2], Number(match[3])), name: lastName(name) };
    }
  }
  return null;
}

// The source location of a line of a script; its columns are not those that were compiled.
function sourceOf(file, line) {
  const lines = compiled.get(file);
  const found = lines?.locateLine(line);
  return found ? { file: found.file, line: found.line } : { file, line };
}

function crash(error) {
  if (state.crashed) return;
  state.crashed = true;
  state.isFrozen = true;
  const { name = '', ...place } = placeOf(error) ?? {};
  state.thrower = name;
  state.error = error;
  // V8 writes some messages by the source, which is the rewritten one here.
  state.event = String(error?.name ? `${error.name}: ${error.message}` : error).split('\n')[0]
    .replaceAll(/__dbg\.\w+\(\.\.\.\)/g, '(intermediate value)');
  if (!order.expression || !state.last.length) {
    finishAndExit({ crash: place.file ? place : null, event: state.event });
    return;
  }
  const hit = chooseHit();
  if (!hit || hit.value !== undefined) {
    finishAndExit({ event: state.event });
    return;
  }
  // Unreferenced: a program that has nothing more to do writes nothing more, and ends at once.
  setTimeout(() => finishAndExit({ event: state.event }), AFTERWARDS_MS).unref();
  process.exitCode = 1;
}

process.on('uncaughtException', crash);
process.on('exit', () => finish({ event: state.event }));

rewriteLoaded(rewriteScript, (text) => state.notes.push(text));

const made = new MadeScripts(acorn, numbers, (text) => state.notes.push(text));
made.replaceVm();
Object.assign(hooks, {
  roots: made.roots,
  ev: (number, text) => made.rewriteEval(number, text),
  fn: (number, words) => made.rewriteArguments(number, words),
});

for (const [name, value] of [['__dbg', hooks], [HOOK, meet]]) {
  Object.defineProperty(globalThis, name, { value, enumerable: false });
}
