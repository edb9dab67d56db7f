// Follows the value that a pattern takes apart, `{ name }` of `function f({ user: { name } })`, where
// that failed: no name has it, and of a function's parameters no code of the function has run.
'use strict';
const { trace, NONE } = require('./origin_trace.cjs');
const { FUNCTIONS, childrenOf } = require('./origin_scopes.cjs');
const collections = require('./origin_collections.cjs');
const passed = require('./origin_passed.cjs');
const { valueOf } = require('./origin_values.cjs');
const { calleeName, short, textOf } = require('./origin_places.cjs');

const CALLS_MAX = 16;
const PATTERNS = new Set(['ObjectPattern', 'ArrayPattern']);
// V8's words of what a pattern cannot take apart.
const NOTHING = /^(?:Cannot read properties of |object )?(null|undefined)\b|as it is (null|undefined)\.$/;
// The pattern of the question; where it was last; calls that did not come back.
const state = { found: null, last: null, ended: [] };

// The keys that lead to a pattern within another one; null if it is not in it.
function pathTo(pattern, inner, path = []) {
  if (pattern === inner) return path;
  const items = {
    AssignmentPattern: (node) => [[node.left, path]],
    ArrayPattern: (node) => node.elements.map((one, at) => [one, [...path, String(at)]]),
    ObjectPattern: (node) => node.properties.filter((one) => one.value && !one.computed)
      .map((one) => [one.value, [...path, String(one.key.name ?? one.key.value)]]),
  }[pattern?.type]?.(pattern) ?? [];
  for (const [one, keys] of items) {
    const found = one && pathTo(one, inner, keys);
    if (found) return found;
  }
  return null;
}

// The patterns that a node declares: those of a function's parameters, a loop, a variable, an assignment.
function patternsOf(node) {
  if (FUNCTIONS.has(node.type)) return node.params;
  if (node.type === 'ForOfStatement') return [node.left.declarations?.[0].id ?? node.left];
  if (node.type === 'AssignmentExpression') return [node.left];
  return node.type === 'VariableDeclarator' && node.init ? [node.id] : [];
}

// Finds the only pattern at a line that is written so, with what declares it.
function findPattern(program, source, { expression, line, is_thrown: isThrown }) {
  if (!isThrown || !/^[{[]/.test(expression)) return null;
  const found = [];
  const isIt = (node) => PATTERNS.has(node.type) && node.loc.start.line <= line && line <= node.loc.end.line &&
    source.slice(node.start, node.end).replace(/\s+/g, ' ') === expression;
  const within = (node, holder, position) => {
    if (isIt(node)) found.push({ node, holder, position, path: pathTo(patternsOf(holder)[position], node) });
    for (const one of childrenOf(node)) if (!FUNCTIONS.has(one.type)) within(one, holder, position);
  };
  const walk = (node) => {
    patternsOf(node).forEach((one, at) => within(one, node, at));
    for (const one of childrenOf(node)) walk(one);
  };
  walk(program);
  return found.length === 1 && found[0].path ? found[0] : null;
}

// Begins to watch for what is needed to follow a pattern.
function watchPattern(found) {
  state.found = found;
  trace.atSite = (act, number, value) => {
    if (found.holder.site?.number === number) state.last = { act, value, time: trace.time };
  };
  trace.atEnd = noteEnd;
}

const isWatched = () => state.found !== null;

// Notes a call that did not come back, or whose promise came back before its function had begun.
function noteEnd(call) {
  if (!call) return;
  state.ended.push({ call, time: trace.time });
  if (state.ended.length > CALLS_MAX) state.ended.shift();
}

// Whether a call gives a function to another one.
const isGiven = ({ site }, own) => trace.sites.get(site).node.arguments?.includes(own);

// Whether a call calls a function itself: its code, as it was rewritten, names its site.
function isDirect({ site, act, began }, own) {
  const { callee } = trace.sites.get(site).node;
  const value = callee ? valueOf(callee, act, began) : NONE;
  if (typeof value === 'function') return String(value).includes(`__dbg.i(${own.number},`);
  const name = callee?.property?.name ?? callee?.name;
  return callee === own.node || (value === NONE && name === own.fn.name.split('.').at(-1));
}

// The call whose function failed before its own code began: the innermost that the exception left,
// or the last one of an async function. No time passes while an exception leaves calls.
function failedCall({ node, isAsync }) {
  noteEnd(trace.current?.stack.at(-1));
  const left = state.ended.filter(({ call, time }) => time === state.ended.at(-1).time && (call.value === undefined || isAsync));
  const made = state.ended.findLast(({ call }) => call.value !== undefined);
  const found = (isAsync ? made : left[0])?.call;
  return found && (!found.child || isGiven(found, node)) ? found : null;
}

// An activation of the function whose parameters failed; null if its call is not known.
function failedActivation({ site }, value) {
  const call = failedCall(site.fn);
  if (!call) return null;
  const { act } = call;
  const own = {
    id: -1, site, call, lexical: null, self: undefined, params: [value], began: ++trace.time, parent: act, back: act, stack: [],
  };
  call.kids.push(own);
  return own;
}

// What the pattern takes apart by an exception: `{act, node, value, follow}`; null if it is not known.
function beginPattern(error) {
  const { node, holder, position, path } = state.found;
  const nothing = NOTHING.exec(error?.message ?? '');
  if (!holder.site || !nothing) return null;
  const value = (nothing[1] ?? nothing[2]) === 'null' ? null : undefined;
  if (FUNCTIONS.has(holder.type)) {
    const act = failedActivation(holder, value);
    const binding = { param: { position, slot: 0, path, node } };
    const follow = (chain) => followGiven(chain, { owner: act, binding }, value);
    return act && { act, node, value, follow };
  }
  if (!state.last) return null;
  const { act } = state.last;
  const follow = holder.type === 'ForOfStatement' ? followRound : followWritten;
  return { act, node, value, follow: (chain) => follow(chain, state.found, state.last, value) };
}

function followGiven(chain, found, value) {
  const { call, site } = found.owner;
  const text = short(textOf(found.binding.param.node, found.owner));
  if (isDirect(call, site) || isGiven(call, site.fn.node)) return passed.followParameter(chain, text, found);
  const { node } = trace.sites.get(call.site);
  const by = calleeName(node) ?? 'a library';
  chain.link('passed', `${text} passed by ${by}`, node, call.act, { value });
  return chain.end('not followed', `${site.fn.shown} was called by ${by}`);
}

function followWritten(chain, { node, holder, path }, { act, value, time }, part) {
  const whole = holder.init ?? holder.right;
  chain.link('written', `${short(textOf(node, act))} takes apart ${short(textOf(whole, act))}`, holder, act, { value: part });
  if (!path.length) return { node: whole, act, time };
  return chain.destructured({ time: time + 0.5, site: holder.site, act, value, target: { node, path } });
}

function followRound(chain, { node, holder, path }, { act }, value) {
  const loop = act.loops.get(holder.site.number);
  const index = loop.index + 1;
  const text = `${short(textOf(node, act))}${path.length ? ', of' : ' is'} element ${index} of ${short(textOf(holder.right, act))}`;
  chain.link('loaded', text, holder, act, { value });
  const event = { site: holder.site, act, time: ++trace.time, value, round: loop };
  return collections.followElement(chain, loop.collection, index, event, { path });
}

module.exports = { beginPattern, findPattern, isWatched, watchPattern };
