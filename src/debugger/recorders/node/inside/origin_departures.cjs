// Finds where a value first departs from the one that the check at its place compares it with.
// Only what can be read without running code is compared.
'use strict';
const { types } = require('util');
const { NONE, isObject } = require('./origin_trace.cjs');
const { childrenOf } = require('./origin_scopes.cjs');
const { valueOf } = require('./origin_values.cjs');
const { textOf } = require('./origin_places.cjs');

const LEVELS = 8; // of objects in objects
const EXCERPT = 80; // characters from the difference on
const EQUAL = /^(?:strictEqual|deepStrictEqual|equal|deepEqual)$/;
const LOOSE = /^(?:equal|deepEqual)$/;
const MATCHERS = /^(?:toBe|toEqual|toStrictEqual|equal|equals|eq|eql)$/;
const FOLLOWED = /^(?:Identifier|MemberExpression|CallExpression)$/;
const RUNS = /^(?:Call|New|Await|Yield|Assignment|Update|TaggedTemplate|Import)Expression$/;

// The first part by which the value of a hit departs: `{keys, at, value, other}`; null without one.
// `at` is the position in a text, and `value` and `other` are what both have from there on.
function findDeparture({ act, site, value, began }, line) {
  if (!FOLLOWED.test(site.rhs.type)) return null;
  const text = textOf(site.rhs, act);
  for (const { sides, isLoose } of findChecks(site, line)) {
    const at = sides.findIndex((one) => textOf(one, act) === text);
    const other = at < 0 ? NONE : readPlain(sides[1 - at], act, began + 0.5);
    const found = other === NONE ? null : findPart(value, other, isLoose);
    if (found) return found;
  }
  return null;
}

// The same of an assertion's error, which has both values.
function departureOf(error, { value, site }) {
  if (!isObject(error) || !('actual' in error) || !('expected' in error) || !FOLLOWED.test(site.rhs.type)) return null;
  const { actual, expected } = error;
  if (Object.is(actual, value)) return findPart(value, expected, false);
  return Object.is(expected, value) ? findPart(value, actual, false) : null;
}

// The comparisons that fail at the statement behind the question.
function findChecks({ node, fn }, line) {
  const around = pathTo(fn.node, node);
  const statement = nextStatement(around, line);
  if (!statement) return [];
  if (statement.type === 'IfStatement') return isThrowing(statement.consequent) ? compared(statement.test, '!') : [];
  if (statement.type !== 'ThrowStatement') return assertedBy(statement.expression ?? statement);
  return around.flatMap((one, at) => {
    if (one.type !== 'IfStatement') return [];
    const inside = around[at + 1];
    return inside === one.consequent ? compared(one.test, '!') : inside === one.alternate ? compared(one.test, '=') : [];
  });
}

// The nodes from a function to a node in it.
function pathTo(root, node) {
  const path = [root];
  for (let at = root; at && at !== node; path.push(at)) {
    const inner = [...childrenOf(at)].filter((one) => one.start <= node.start && node.end <= one.end);
    at = inner.find((one) => one === node) ?? inner[0];
    if (!at) break;
  }
  return path;
}

function nextStatement(path, line) {
  const [holder, own] = path.slice(-3);
  const list = holder?.body ?? holder?.consequent;
  const isArrow = own?.type === 'SequenceExpression';
  const next = isArrow ? own.expressions[1] : Array.isArray(list) ? list[list.indexOf(own) + 1] : null;
  return next && next.loc.start.line <= line && line <= next.loc.end.line ? next : null;
}

function isThrowing(node) {
  return node.type === 'ThrowStatement' || (node.type === 'BlockStatement' && node.body.at(-1)?.type === 'ThrowStatement');
}

// The sides of the comparisons in a condition, by `==` and `===`, or by `!=` and `!==`.
function compared(test, first) {
  if (test.type === 'LogicalExpression') return [...compared(test.left, first), ...compared(test.right, first)];
  const isCompared = test.type === 'BinaryExpression' && (first === '=' ? /^===?$/ : /^!==?$/).test(test.operator);
  return isCompared ? [{ sides: [test.left, test.right], isLoose: test.operator.length === 2 }] : [];
}

// The sides that an assertion compares: `strictEqual(a, b)`, `expect(a).toBe(b)`, `assert(a === b)`.
function assertedBy(expression) {
  const call = expression.type === 'AwaitExpression' ? expression.argument : expression;
  if (call.type !== 'CallExpression') return [];
  const name = nameOf(call.callee);
  const [first, second] = call.arguments;
  if (EQUAL.test(name) && second) return [{ sides: [first, second], isLoose: LOOSE.test(name) }];
  if (/^(?:assert|ok)$/.test(name) && first) return compared(first, '=');
  const actual = MATCHERS.test(name) && first ? expectedValue(call.callee.object) : null;
  return actual ? [{ sides: [actual, first], isLoose: false }] : [];
}

function nameOf(callee) {
  const node = callee.type === 'SequenceExpression' ? callee.expressions.at(-1) : callee;
  return String((node.property ?? node).name);
}

// The argument of `expect(a)`, also before `.to`, and not before `.not`.
function expectedValue(node) {
  let at = node;
  for (; at?.type === 'MemberExpression'; at = at.object) if (/^(?:not|rejects|resolves)$/.test(at.property.name)) return null;
  return at?.type === 'CallExpression' && nameOf(at.callee) === 'expect' ? at.arguments[0] ?? null : null;
}

// The value of an expression that runs no code; NONE of others, and of such parts of a literal.
function readPlain(node, act, time) {
  const inner = (one) => (one ? readPlain(one, act, time) : undefined);
  if (node.type === 'ArrayExpression') {
    return node.elements.some((one) => one?.type === 'SpreadElement') ? NONE : node.elements.map(inner);
  }
  if (node.type === 'ObjectExpression') {
    const isPlain = node.properties.every((one) => one.kind === 'init' && !one.computed);
    return isPlain ? Object.fromEntries(node.properties.map((one) => [one.key.name ?? one.key.value, inner(one.value)])) : NONE;
  }
  return runsCode(node) ? NONE : valueOf(node, act, time);
}

function runsCode(node) {
  return RUNS.test(node.type) || [...childrenOf(node)].some(runsCode);
}

function findPart(value, other, isLoose) {
  const found = compareParts(value, other, { isLoose, known: new Map() }, 0);
  return found && (found.keys.length || found.at !== null) ? found : null;
}

//   known: the objects that have been compared, and with which
function compareParts(value, other, rule, level) {
  if (value === NONE || other === NONE || Object.is(value, other)) return null;
  if (typeof value === 'string' && typeof other === 'string') return compareTexts(value, other);
  const here = { keys: [], at: null, value, other };
  if (!isObject(value) || !isObject(other)) return value === other || (rule.isLoose && value == other) ? null : here;
  if (!areAlike(value, other) || level >= LEVELS || rule.known.get(value) === other) return null;
  rule.known.set(value, other);
  if (Array.isArray(value) !== Array.isArray(other)) return here;
  const keys = Object.keys(value);
  for (const key of keys) {
    const [one, another] = [readData(value, key), readData(other, key)];
    const found = one && another ? compareParts(one.value, another.value, rule, level + 1) : null;
    if (found) return { ...found, keys: [key, ...found.keys] };
  }
  return isSameSize(keys, value, other) ? null : here;
}

// Of a text that is over its last character departs.
function compareTexts(value, other) {
  if (value.length < 2) return { keys: [], at: null, value, other };
  let at = 0;
  while (at < value.length - 1 && value[at] === other[at]) at += 1;
  return { keys: [], at, value: value.slice(at, at + EXCERPT), other: other.slice(at, at + EXCERPT) };
}

// Whether objects are of one class, or both plain or arrays.
function areAlike(value, other) {
  const objects = [value, other];
  if (objects.some((one) => typeof one === 'function' || types.isProxy(one))) return false;
  const [one, another] = objects.map((each) => Object.getPrototypeOf(each));
  return one === another || objects.every((each, at) => Array.isArray(each) || [Object.prototype, null].includes([one, another][at]));
}

function readData(object, key) {
  const known = Object.getOwnPropertyDescriptor(object, key);
  return known?.enumerable && 'value' in known ? known : null;
}

function isSameSize(keys, value, other) {
  if (Array.isArray(value)) return value.length === other.length;
  const isSet = (object) => (key) => readData(object, key)?.value !== undefined;
  const others = Object.keys(other).filter(isSet(other));
  return keys.filter(isSet(value)).every((key) => others.includes(key)) && others.every((key) => keys.includes(key));
}

function keyText(key, isIndex) {
  if (isIndex) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `['${key}']`;
}

// The expression of the part, whose text it has with it, as `got.pages[1]` does.
function partNode(node, act, whole, keys) {
  let [at, value] = [node, whole];
  for (const key of keys) {
    const code = textOf(at, act) + keyText(key, Array.isArray(value));
    const property = { type: 'Literal', value: key, raw: key };
    const { start, end } = at.loc; // its text is its own, and no source's
    at = { type: 'MemberExpression', object: at, property, computed: true, start: 0, end: code.length, loc: { start, end }, code };
    value = value[key];
  }
  return { node: at, value };
}

module.exports = { departureOf, findDeparture, partNode };
