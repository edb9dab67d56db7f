// Follows the value that a pattern takes apart, `{ name }` of `function f({ user: { name } })`, where
// that failed: no name has it, and of a function's parameters no code of the function has run.
'use strict';
const { trace } = require('./origin_trace.cjs');
const { FUNCTIONS, childrenOf } = require('./origin_scopes.cjs');
const collections = require('./origin_collections.cjs');
const passed = require('./origin_passed.cjs');
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

// The patterns that a node declares: those of a function's parameters, a loop, a variable.
function patternsOf(node) {
  if (FUNCTIONS.has(node.type)) return node.params;
  if (node.type === 'ForOfStatement') return [node.left.declarations?.[0].id ?? node.left];
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

function noteEnd(act) {
  const call = act.stack.at(-1);
  if (!call) return;
  state.ended.push(call);
  if (state.ended.length > CALLS_MAX) state.ended.shift();
}

// Whether a call calls a function, or gives it to another one.
function mayCall({ site }, { node: own, name }) {
  const { node } = trace.sites.get(site);
  const last = name.split('.').at(-1);
  if (!node.callee) return false;
  if (node.type === 'NewExpression') return name === `${calleeName(node)}.constructor`;
  return node.callee === own || calleeName(node) === last ||
    node.arguments.some((one) => one === own || (one.property ?? one).name === last);
}

// An activation of the function whose parameters failed, before its own code began; null if unknown.
function failedActivation({ site }, value) {
  if (trace.current) noteEnd(trace.current);
  const call = state.ended.findLast((one) => mayCall(one, site.fn));
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
    return act && { act, node, value, follow: (chain) => passed.followParameter(chain, short(textOf(node, act)), { owner: act, binding }) };
  }
  if (!state.last) return null;
  const { act } = state.last;
  const follow = holder.type === 'VariableDeclarator' ? followDeclared : followRound;
  return { act, node, value, follow: (chain) => follow(chain, state.found, state.last, value) };
}

function followDeclared(chain, { node, holder, path }, { act, value, time }, part) {
  chain.link('written', `${short(textOf(node, act))} takes apart ${short(textOf(holder.init, act))}`, holder, act, { value: part });
  if (!path.length) return { node: holder.init, act, time };
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
