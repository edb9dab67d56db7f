// Follows a value into the collection that it was computed from: its elements and their writes.
'use strict';
const { isBuiltin } = require('module');
const { trace, NONE, isObject } = require('./origin_trace.cjs');
const values = require('./origin_values.cjs');
const places = require('./origin_places.cjs');
const iterables = require('./origin_iterables.cjs');
const removals = require('./origin_removals.cjs');
const bytes = require('./origin_bytes.cjs');
const texts = require('./origin_texts.cjs');
const { short } = places;
const { formatScalar, isGuilty, lastBefore, valueOf } = values;

const ELEMENTS_MAX = 300;
const ALSO = 2;
const NAMES_MAX = 8; // that a part of a result has been given
const CONTENTS = 3; // writes that are named
const NAMESPACES = new Set([
  'Array', 'Object', 'JSON', 'Math', 'Number', 'String', 'Promise', 'Reflect', 'Buffer', 'BigInt',
  'Date', 'Symbol', 'console', 'util', 'path', 'fs',
]);
const INPUTS = /^(readFileSync|readFile|now|random|randomUUID|randomBytes|readSync|prompt|hrtime|exec(?:File)?Sync|spawnSync|get(Hours|Time|Minutes))$/;
const INDEX = /^(0|[1-9]\d*)$/;

function keyText(key) {
  return INDEX.test(String(key)) ? `[${String(key)}]` : `.${String(key)}`;
}

// The writes of an object's properties and entries up to a time.
function eventsOf(object, time, isNested) {
  const found = [];
  for (const table of [trace.properties, trace.entries]) {
    const keys = table.get(object);
    if (!(keys instanceof Map)) continue; // a WeakMap's cannot be listed
    for (const [key, list] of keys) {
      if (key === 'length') continue;
      for (const one of list) if (one.time < time) found.push({ event: one, key, object, isNested });
    }
  }
  for (const { event } of bytes.otherWrites(object, time)) found.push({ event: { how: 'another view', ...event }, key: '*', object, isNested });
  return found;
}

// Whether a write belongs to the making of its object.
function isMaking({ event, key, object }) {
  const birth = trace.births.get(object);
  if (!birth) return false;
  if (event.how) return false;
  // What the function that made the object writes again was there before.
  const isFirst = !values.literalProperty(object, key) && trace.properties.get(object)?.get(key)?.[0] === event;
  return (event.act === birth.act && isFirst) || event.time < birth.time || event.act.site.fn.name.endsWith('.constructor');
}

function elementsOf(object) {
  try {
    if (object instanceof Map) return [...object.values()].slice(0, ELEMENTS_MAX);
    if (object instanceof Set) return [...object].slice(0, ELEMENTS_MAX);
    if (Array.isArray(object)) return object.slice(0, ELEMENTS_MAX);
  } catch {
    // A Proxy of the program.
  }
  return [];
}

// The write in place that tells most about what a collection holds; null without one.
function chooseChange(object, time) {
  let own = eventsOf(object, time, false);
  const hasIndices = own.some((one) => INDEX.test(String(one.key)));
  if (hasIndices) own = own.filter((one) => INDEX.test(String(one.key)) || one.key === '*');
  const nested = elementsOf(object).filter(isObject).flatMap((one) => eventsOf(one, time, true));
  const all = [...own, ...nested];
  const isLast = (one) => lastBefore((trace.properties.get(one.object) ?? trace.entries.get(one.object))?.get(one.key), time) === one.event;
  const isThere = (one) => one.isNested || !Array.isArray(one.object) || Number(one.key) < one.object.length;
  const guilty = all.filter((one) => isGuilty(one.event.value) && isThere(one) && isLast(one) && !isLength(one));
  const changed = all.filter((one) => !isMaking(one));
  const latest = (list) => list.reduce((best, one) => (!best || one.event.time > best.event.time ? one : best), null);
  const departed = guilty.filter((one) => !isRemoved(one));
  return { chosen: latest(departed) ?? latest(changed) ?? null, changed };
}

const isLength = (one) => one.key === '*' || one.key === 'length';

// An array-like object's element behind its length.
function isRemoved({ object, key }) {
  return typeof object.length === 'number' && INDEX.test(String(key)) && Number(key) >= object.length;
}

function linkChange(chain, { chosen, changed: others }, text) {
  const { event, key, isNested } = chosen;
  const owner = isNested ? `an element of ${text}` : text;
  const made = isMaking(chosen) ? 'written' : 'changed in place';
  const changed = event.how ? `changed by ${event.how}` : made;
  const by = event.moves ? `reordered by ${event.moves}` : changed;
  const name = event.moves || event.how ? owner : `${owner}${keyText(key)}`;
  const more = event.value === NONE ? {} : { value: event.value };
  const list = (trace.properties.get(chosen.object) ?? trace.entries.get(chosen.object))?.get(key) ?? [];
  const before = lastBefore(list, event.time);
  if (before && before.value !== NONE) more.old = before.value;
  const how = places.argumentsOf(event.act);
  const link = chain.link('written', `${name} ${by}${how}`, event.site.node, event.act, more);
  link.details.push(...describeOthers(chosen, others));
  return chain.afterWrite(event);
}

function describeOthers(chosen, changed) {
  const known = new Set([chosen.key]);
  const texts = [];
  for (const one of [...changed].sort((a, b) => b.event.time - a.event.time)) {
    if (known.has(one.key) || one.object !== chosen.object || texts.length >= ALSO) continue;
    if (typeof one.key === 'symbol') continue;
    known.add(one.key);
    const { event } = one;
    const value = event.value === NONE ? '?' : formatScalar(event.value);
    const where = places.describePlace(event.site.node, event.act);
    const how = places.argumentsOf(event.act) || ` in ${places.functionName(event.act)}`;
    texts.push(`before it ${keyText(one.key)} = ${value} at ${where}${how}`);
  }
  return texts;
}

// Where items were put into a collection, at places that no link tells.
function describeContents(object, time, links) {
  const known = new Set(links.map(({ frame }) => `${frame?.file}:${frame?.line}`));
  const found = new Map();
  for (const { event } of eventsOf(object, time, false).sort((a, b) => a.event.time - b.event.time)) {
    if (event.left !== undefined) continue;
    const { node } = event.site;
    const frame = places.makeFrame(node, event.act);
    const text = `${places.describePlace(node, event.act)} \`${short(places.textOf(node, event.act))}\``;
    if (!known.has(`${frame?.file}:${frame?.line}`)) found.set(text, true);
  }
  return found.size ? `items were put in at ${[...found.keys()].slice(-CONTENTS).join(', ')}` : null;
}

// Follows what a collection holds: a change in place, or else how it was made.
function followContents(chain, node, act, time) {
  const object = valueOf(node, act, time);
  if (isObject(object) && object !== NONE) {
    if (chain.part) return chain.end('not followed', `which item of ${short(places.textOf(node, act))} gave the character is not known`);
    const found = chooseChange(object, time);
    if (found.chosen) return linkChange(chain, found, short(places.textOf(node, act)));
  }
  return { node, act, time };
}

// Follows the changes of the object that the question is about.
function followChanges(chain, object, query, text) {
  if (removals.followEmptied(chain, object, query.time, text) !== undefined) return true;
  const found = chooseChange(object, query.time);
  if (!found.chosen) return false;
  const { length } = chain.links;
  const next = linkChange(chain, found, text);
  chain.links[length]?.details.push(...describeHolder(object, query, text));
  if (next) chain.follow(next);
  return true;
}

// Where an object was made, and since when a variable has it.
function describeHolder(object, { node, act, time }, text) {
  const found = [];
  const birth = trace.births.get(object);
  if (birth) found.push(`the object was made at ${places.describePlace(birth.site.node, birth.act)}`);
  const event = node.type === 'Identifier' ? lastBefore(values.findVariable(node, act)?.events, time) : null;
  const line = event ? event.site.node.loc.start.line : null;
  if (event && line !== birth?.site.node.loc.start.line && Object.is(values.variableValue(event, time), object)) {
    found.push(`${text} is this object since ${places.describePlace(event.site.node, event.act)}`);
  }
  return found;
}

// Why a name in a pattern got its default: what has nothing there, and where that was written or made.
function describeLacking(whole, path, time) {
  let object = whole;
  for (const key of path) {
    const value = isObject(object) ? values.readProperty(object, key, time) : NONE;
    if (value === NONE) return [];
    if (value !== undefined) {
      object = value;
      continue;
    }
    const event = lastBefore(trace.properties.get(object)?.get(key), time);
    const literal = event ? null : values.literalProperty(object, key);
    const birth = trace.births.get(object);
    const what = event || literal ? `${key} is undefined by` : `without ${key}, made at`;
    const [node, act] = event ? [event.site.node, event.act] : [literal?.node ?? birth?.site.node, literal?.birth.act ?? birth?.act];
    return [`by default: ${node ? `${what} ${places.describePlace(node, act)}` : `there is no ${key}`}`];
  }
  return [];
}

function followFirstWrite(chain, object, node) {
  if (!isObject(object) || trace.births.get(object)?.site.node !== node) return null;
  const [first] = eventsOf(object, chain.hit.time, false).sort((a, b) => a.event.time - b.event.time);
  return first ? linkChange(chain, { chosen: first, changed: [] }, 'it') : null;
}

function hasOrigin(object, key, time) {
  const events = trace.properties.get(object);
  return Boolean(
    lastBefore(events?.get(key), time) ?? lastBefore(events?.get('*'), time) ??
    values.literalProperty(object, key) ?? trace.births.get(object)?.call,
  );
}

function followElement(chain, collection, index, event, target) {
  const node = event.site.node.right;
  const { time, act } = event;
  if (typeof collection === 'string' && !target.path.length) {
    chain.part = { text: collection, at: [...collection].slice(0, index).join('').length };
    return { node, act, time };
  }
  const { generator } = event.round ?? {};
  const { path } = target;
  const whole = path.length ? null : assignedWhole(node, act, time) ?? { rhs: node, act, time };
  const settled = whole ? followSettled(chain, whole.rhs, index, whole, `${short(places.textOf(node, act))}[${index}]`) : undefined;
  if (settled !== undefined) return settled;
  const item = { path, value: event.value, time, text: `${short(places.textOf(node, act))}[${index}]` };
  const yielded = generator ? iterables.followYield(chain, generator, index, event.value, path) : undefined;
  const given = yielded === undefined ? iterables.followItem(chain, collection, index, item) : yielded;
  if (given !== undefined) return given;
  const items = iterables.listItems(collection, time);
  let [object, key] = [items ?? collection, String(index)];
  for (const step of target.path) {
    const inner = isObject(object) ? values.readProperty(object, key, time) : NONE;
    if (!isObject(inner) && items) return chain.end('not followed', `which entry of ${short(places.textOf(node, act))} it was is not known`);
    if (!isObject(inner)) return followContents(chain, node, act, time);
    [object, key] = [inner, step];
  }
  const isLacking = target.path.length && isObject(object) && !Object.hasOwn(object, key) && trace.births.has(object);
  const text = `${item.text}${target.path.map((one) => (INDEX.test(one) ? `[${one}]` : `.${one}`)).join('')}`;
  if (isLacking) return chain.propertyOfValue(object, key, time, text);
  // An iterator has no elements of its own.
  if (isObject(object) && Object.hasOwn(object, key) && hasOrigin(object, key, time)) {
    return chain.propertyOfValue(object, key, time, text);
  }
  return followContents(chain, node, act, time);
}

// A parameter that a method of a collection gave: an element, an index, the value so far.
function followCallbackArgument(chain, name, param, owner, { call, site, act }) {
  const { node } = site;
  const method = places.calleeName(node);
  const value = owner.params[param.slot];
  const isStatic = method === 'from';
  const source = isStatic ? node.arguments[0] : node.callee.object;
  const number = call.kids.indexOf(owner);
  const isReduce = /^reduce/.test(method ?? '');
  const isElement = param.position === (isReduce ? 1 : 0);
  const collection = isStatic ? valueOf(source, act, owner.began) : call.recv;
  const matched = chain.part && param.position === 0 && typeof call.recv === 'string' ? texts.matchPart(chain.part, node, call, number, act) : null;
  if (matched) {
    chain.part = matched;
    chain.link('passed', `${name} is match ${number} of ${short(places.textOf(source, act))}`, node, act, { value });
    return { node: source, act, time: owner.began };
  }
  if (!source || !isObject(collection) || number < 0 || typeof collection[Symbol.iterator] !== 'function') {
    chain.link('passed', `${name} passed by ${method ?? 'a library'}`, node, act, { value });
    return chain.end('not followed', `${owner.site.fn.shown} was called by ${method ?? 'a library'}`);
  }
  const text = short(places.textOf(source, act));
  if (isReduce && param.position === 0) {
    const before = call.kids[number - 1];
    if (before?.result) return followResult(chain, before, `${name} returned by the round before`);
    const initial = node.arguments[1];
    if (initial) return { node: initial, act, time: owner.began };
    if (method !== 'reduce') return followContents(chain, source, act, owner.began);
  }
  const isFirst = isReduce && param.position === 0;
  if (!isElement && !isFirst) return chain.end('not followed', `${name} is an index of ${text}`);
  const index = isReduce && node.arguments.length < 2 && !isFirst ? number + 1 : number;
  chain.link('loaded', `${name}${param.path.length ? ', of' : ' is'} element ${index} of ${text}`, node, act, { value });
  const event = { site: { node: { right: source } }, act, time: owner.began, value };
  return followElement(chain, collection, index, event, { path: param.path });
}

function followResult(chain, act, text) {
  const { site, value, time } = act.result;
  chain.link('returned', text, site.node, act, { value });
  return { node: site.rhs ?? site.node.argument, act, time };
}

// An element of an object that a library's call returned: `map`, `filter`, `slice`; undefined for others.
function followMade(chain, object, key, time, text) {
  const birth = trace.births.get(object);
  const call = birth?.call;
  if (!call) return undefined;
  const { node } = birth.site;
  if (call.child && !places.isCallbackOf(call.child, node, birth.act)) return undefined;
  const method = places.calleeName(node);
  const kid = INDEX.test(key) ? call.kids[Number(key)] : null;
  if (method === 'split' && chain.part && node.arguments.length === 1) {
    const part = texts.splitPart(chain.part, call.recv, valueOf(node.arguments[0], birth.act, birth.time), key);
    if (part) {
      chain.part = part;
      return { node: node.callee.object, act: birth.act, time: birth.time };
    }
  }
  if ((method === 'map' || method === 'from') && kid?.result) {
    return followResult(chain, kid, `${text} returned for element ${key}`);
  }
  const value = values.readProperty(object, key, time);
  const inner = /^(flat|flatMap|concat)$/.test(method ?? '') ? nestedElement(call, node, birth, value) : null;
  if (inner) return chain.property(inner.array, inner.key, birth.time, `${short(places.textOf(node.callee.object, birth.act))}[…][${inner.key}]`);
  const paired = iterables.followFromEntries(chain, birth, key);
  if (paired !== undefined) return paired;
  const [given] = node.arguments;
  if (method === 'from' && node.arguments.length === 1 && INDEX.test(key)) {
    const source = { value, time: birth.time, text: short(places.textOf(given, birth.act)) };
    const item = iterables.followItem(chain, valueOf(given, birth.act, birth.time), key, source);
    if (item !== undefined) return item;
  }
  const from = keptElement(birth.site, call, key, value, birth);
  if (from !== null) return chain.property(call.recv, from, birth.time, `${short(places.textOf(node.callee.object, birth.act))}[${from}]`);
  return followOperands(chain, node, call, birth.act, birth.time);
}

// A part of what a library's call made, as `JSON.parse(text).user`; undefined for others.
function followWhole(chain, { node, act, time }, text) {
  let [root, at] = [node, { act, time }];
  for (let step = 0; step < NAMES_MAX && root.type !== 'CallExpression'; step++) {
    if (root.type === 'Identifier') {
      const event = lastBefore(values.findVariable(root, at.act)?.events, at.time);
      if (!event?.site.rhs || event.round) return undefined;
      [root, at] = [event.site.rhs, event];
    } else root = root.object ?? root.expression ?? root.argument ?? root;
  }
  const call = root.type === 'CallExpression' ? values.lastCall(root, at.act, at.time) : null;
  if (!call || (call.child && !places.isCallbackOf(call.child, root, at.act))) return undefined;
  chain.link('loaded', `${text} is a part of the result`, root, at.act, { certainty: 'inferred' });
  return followCall(chain, root, call, at.act, at.time);
}

// A part of a deep copy, `copy.a.b`, is the same part of what was copied; undefined for others.
function followCopied(chain, node, act, time, text) {
  const keys = [];
  let root = node;
  for (; root.type === 'MemberExpression'; root = root.object) {
    const holder = valueOf(root.object, act, time);
    const key = holder === NONE ? NONE : values.keyOf(root, act, time);
    // What was written to the copy, or to a part of it, is no copy.
    if (key === NONE || !isObject(holder) || lastBefore(trace.properties.get(holder)?.get(key), time)) return undefined;
    keys.unshift(key);
  }
  const birth = trace.births.get(valueOf(root, act, time));
  const source = birth?.call ? copiedArgument(birth.site.node) : null;
  if (!source) return undefined;
  let object = valueOf(source, birth.act, birth.time);
  for (const key of keys.slice(0, -1)) object = isObject(object) ? values.readProperty(object, key, birth.time) : NONE;
  if (!isObject(object)) return undefined;
  chain.link('loaded', `${text} copied`, birth.site.node, birth.act);
  const part = `${short(places.textOf(source, birth.act))}${keys.map(keyText).join('')}`;
  return chain.property(object, keys.at(-1), birth.time, part);
}

// The argument of `structuredClone(x)` or `JSON.parse(JSON.stringify(x))`; null for other calls.
function copiedArgument(node) {
  const [given] = node.arguments ?? [];
  const method = places.calleeName(node);
  if (method === 'structuredClone') return given ?? null;
  const isText = method === 'parse' && given?.type === 'CallExpression' && places.calleeName(given) === 'stringify';
  return isText ? given.arguments[0] ?? null : null;
}

// The node of a part of a literal, or of a promise among those that `Promise.all` waits for; the
// whole expression if its parts are not known.
function partOf(node, path, method = 'all') {
  let at = node;
  for (const key of path) {
    const list = settledList(at, method) ?? at;
    const isArray = list.type === 'ArrayExpression' && list.elements.every((one) => one?.type !== 'SpreadElement');
    const properties = list.type === 'ObjectExpression' ? [...list.properties].reverse() : [];
    const found = properties.find((one) => one.type === 'SpreadElement' || one.computed || String(one.key.name ?? one.key.value) === String(key));
    at = isArray ? list.elements[Number(key)] : found?.kind === 'init' && !found.computed ? found.value : null;
    if (!at) return node;
  }
  return at;
}

// At which depth of a path a value has nothing; null if it has something, or is not known.
function lackingPart(whole, path, time) {
  let object = whole;
  for (let depth = 0; object !== NONE; depth++) {
    if (object === undefined) return depth;
    if (depth === path.length) return null;
    object = values.readProperty(object, path[depth], time);
  }
  return null;
}

// The same of a literal, by its text.
function lackingLiteral(node, path) {
  let at = node;
  for (let depth = 0; depth < path.length; depth++) {
    const isPlain = at?.type === 'ObjectExpression' && at.properties.every((one) => one.kind === 'init' && !one.computed);
    if (!isPlain) return null;
    at = at.properties.findLast((one) => String(one.key.name ?? one.key.value) === path[depth])?.value;
    if (!at) return depth + 1;
  }
  return null;
}

// The array of promises of `await Promise.all([a, b])`; null for other expressions.
function settledList(node, method = 'all') {
  const call = node.type === 'AwaitExpression' ? node.argument : node;
  const isAll = call.type === 'CallExpression' && places.calleeName(call) === method && call.callee.object?.name === 'Promise';
  return isAll ? call.arguments[0] ?? null : null;
}

// Follows an element of what `await Promise.all(promises)` gave to the promise; undefined for others.
function followSettled(chain, rhs, key, { act, time }, text) {
  const list = rhs ? settledList(rhs) : null;
  const promises = list && list.type !== 'ArrayExpression' ? valueOf(list, act, time) : null;
  if (!Array.isArray(promises) || !(promises[key] instanceof Promise)) return undefined;
  chain.whole = null;
  return chain.property(promises, String(key), time, text);
}

// The right side of the last write of a variable as a whole, `{rhs, act, time}`; null for others.
function assignedWhole(node, act, time) {
  const event = node.type === 'Identifier' ? lastBefore(values.findVariable(node, act)?.events, time) : null;
  return event && !event.target.path.length ? { rhs: event.site.rhs, act: event.act, time: event.time } : null;
}

// The promise that gave an element of a variable that `await Promise.all([a, b])` was assigned to.
function settledElement(node, object, key, act, time, method = 'all') {
  if (node.object.type !== 'Identifier' || !Array.isArray(object) || trace.properties.has(object)) return null;
  const event = lastBefore(values.findVariable(node.object, act)?.events, time);
  const rhs = event?.site.rhs;
  if (!rhs || event.target.path.length || !settledList(rhs, method)) return null;
  const part = partOf(rhs, [key], method);
  return part === rhs ? null : { node: part, act: event.act, time: event.time };
}

// The promise whose outcome is an element of what `await Promise.allSettled([a, b])` gave.
function settledOutcome(node, act, time) {
  if (node.type !== 'MemberExpression') return null;
  const object = valueOf(node.object, act, time);
  const key = values.keyOf(node, act, time);
  const isFulfilled = Array.isArray(object) && object[key]?.status === 'fulfilled';
  return isFulfilled ? settledElement(node, object, key, act, time, 'allSettled') : null;
}

// The array among those that were joined which has an element, if only one has it.
function nestedElement({ recv, kids }, node, { act, time }, value) {
  const given = node.arguments.map((one) => valueOf(one, act, time));
  const made = kids.map((one) => one.result?.value);
  const arrays = [...(places.calleeName(node) === 'concat' ? [recv, ...given] : [...elementsOf(recv), ...made])];
  const found = [...new Set(arrays)].filter((one) => Array.isArray(one) && one.includes(value));
  const [array] = found;
  const isSure = found.length === 1 && (isObject(value) || array.indexOf(value) === array.lastIndexOf(value));
  return isSure ? { array, key: findElement(array, value) } : null;
}

// The index of an element that `filter`, `slice` and others took over; of equal ones only a known one.
function keptElement({ node }, call, key, value, { act, time }) {
  const method = places.calleeName(node);
  const { recv, kids } = call;
  if (!Array.isArray(recv)) return null;
  if (isObject(value)) return findElement(recv, value);
  if (method === 'filter' && INDEX.test(key)) {
    const kept = kids.map((one, at) => (one.result?.value ? at : -1)).filter((at) => at >= 0);
    if (kept[key] !== undefined) return String(kept[key]);
  }
  if (method === 'slice' && INDEX.test(key)) {
    const start = node.arguments[0] ? valueOf(node.arguments[0], act, time) : 0;
    if (start >= 0 && Object.is(values.readProperty(recv, String(start + Number(key)), time), value)) return String(start + Number(key));
  }
  return recv.indexOf(value) === recv.lastIndexOf(value) ? findElement(recv, value) : null;
}

function findElement(collection, value) {
  if (!Array.isArray(collection)) return null;
  const at = collection.findIndex((one) => Object.is(one, value));
  return at < 0 ? null : String(at);
}

// A call of a library: what it read.
function followCall(chain, node, call, act, time) {
  const method = places.calleeName(node);
  const text = short(places.textOf(node, act));
  if ((call.recv instanceof Map || call.recv instanceof WeakMap) && method === 'get') return followEntry(chain, node, call, act, time);
  if (/^reduce/.test(method ?? '') && call.kids.length) return followReduce(chain, call);
  if (/^(find|findLast|at|pop|shift)$/.test(method ?? '') && Array.isArray(call.recv)) {
    const at = findElement(call.recv, call.value) ?? removedKey(call.recv, call.value, time);
    if (at !== null) return chain.property(call.recv, at, time, text);
    const emptied = call.value === undefined ? removals.followEmptied(chain, call.recv, call.time, short(places.textOf(node.callee.object, act))) : undefined;
    if (emptied !== undefined) return emptied;
  }
  const read = bytes.followRead(chain, node, call, act);
  if (read !== undefined) return read;
  if (INPUTS.test(method ?? '')) return chain.end('input', `${text} at ${places.describePlace(node, act)}`);
  return followOperands(chain, node, call, act, time);
}

// The key at which an element was written that is not there any more.
function removedKey(array, value, time) {
  for (const [key, list] of trace.properties.get(array) ?? []) {
    if (Object.is(lastBefore(list, time)?.value, value)) return key;
  }
  return null;
}

function followEntry(chain, node, call, act, time) {
  const key = valueOf(node.arguments[0], act, time);
  const event = lastBefore(trace.entries.get(call.recv)?.get(key), call.time);
  const text = short(places.textOf(node, act));
  const taken = call.value === undefined ? removals.followTaken(chain, call.recv, key, call.time, short(places.textOf(node.callee.object, act))) : undefined;
  if (taken !== undefined) return taken;
  if (!event) {
    const later = trace.entries.get(call.recv)?.get(key)?.find((one) => one.time > call.time);
    if (later) return chain.laterWrite(`${text} (key ${formatScalar(key)})`, later);
    if (key === NONE || call.value !== undefined || call.recv.has(key)) {
      return chain.end('not followed', `no entry was stored under the key of ${text}${key === NONE ? '' : `, ${formatScalar(key)}`}`);
    }
    chain.link('loaded', `${text} has no entry under ${formatScalar(key)}`, node, act, { value: undefined });
    return { node: node.arguments[0], act, time };
  }
  const how = `stored under ${formatScalar(key)}${places.argumentsOf(event.act)}`;
  chain.link('written', `${text} ${how}`, event.site.node, event.act, { value: event.value });
  return chain.afterWrite(event);
}

// The first round that returned what the whole returned, if that is a wrong value.
function followReduce(chain, call) {
  const first = isGuilty(call.value) ? call.kids.findIndex((one) => isGuilty(one.result?.value)) : -1;
  const kid = first >= 0 ? call.kids[first] : call.kids.at(-1);
  if (!kid.result) return chain.end('not followed', 'a round of reduce returned nothing');
  const which = first >= 0 ? `first by round ${first}` : 'by the last round';
  return followResult(chain, kid, `returned ${which} of reduce`);
}

// Whether a name is that of one of Node's own modules.
function isOfNode(node, act) {
  const found = values.findVariable(node, act);
  const made = found?.events.length === 1 ? found.events[0].site.rhs : null;
  const required = places.calleeName(made ?? {}) === 'require' ? made.arguments[0]?.value : null;
  return isBuiltin(String(found?.binding.node.parent?.source?.value ?? required));
}

function followOperands(chain, node, call, act, time) {
  const { callee } = node;
  const method = places.calleeName(node);
  const object = callee.type === 'MemberExpression' ? callee.object : null;
  const isNamespace = object?.type === 'Identifier' && (NAMESPACES.has(object.name) || typeof call.recv === 'function' || isOfNode(object, act));
  const given = node.arguments.map((one) => (one.type === 'SpreadElement' ? one.argument : one));
  if (isNamespace && method === 'assign' && given.length) return { node: given[0], act, time };
  // The value so far of a builder says more than its arguments.
  const sources = [...(object && !isNamespace ? [object] : []), ...given].filter((one) => !places.isFunction(one));
  const nodes = sources.filter((one) => one.type !== 'Literal' && one.type !== 'Super');
  const before = call.kids[0]?.began ?? call.time;
  const data = nodes.filter((one) => typeof valueOf(one, act, before) !== 'function');
  if (!data.length) return chain.end('not followed', `${short(places.textOf(node, act))} at ${places.describePlace(node, act)} made it`);
  const isOnly = data.length === 1 && (!chain.part || sources.length === 1);
  if (isOnly) return followContents(chain, data[0], act, before);
  return chain.choose(data, node, act, before);
}

// The operand that explains a value: a wrong one, the only one, or the one that changed last.
function chooseOperand(known, act, time) {
  const guilty = known.filter((one) => one.value !== NONE && isGuilty(one.value));
  if (guilty.length === 1) return guilty[0];
  if (known.length === 1) return known[0];
  const rank = (one) => {
    if (isObject(one.value)) return chooseChange(one.value, time).chosen?.event.time ?? 0;
    return lastWrite(one.node, act, time);
  };
  const usable = known.filter((one) => typeof one.value !== 'function');
  return [...usable].sort((a, b) => rank(b) - rank(a))[0] ?? null;
}

function lastWrite(node, act, time) {
  if (node.type === 'Identifier') {
    const found = values.findVariable(node, act);
    return lastBefore(found?.events, time)?.time ?? found?.owner.began ?? 0;
  }
  if (node.type === 'MemberExpression') {
    const object = valueOf(node.object, act, time);
    const key = isObject(object) ? values.keyOf(node, act, time) : NONE;
    return key === NONE ? 0 : lastBefore(trace.properties.get(object)?.get(key), time)?.time ?? 0;
  }
  return values.lastCall(node, act, time)?.time ?? 0;
}

module.exports = {
  assignedWhole, chooseOperand, describeContents, describeLacking, followCall, followCallbackArgument, followChanges, followContents, followCopied,
  followElement, followFirstWrite, followResult, followSettled, partOf, settledElement, settledOutcome, followMade, followWhole, hasOrigin, lackingLiteral, lackingPart,
};
