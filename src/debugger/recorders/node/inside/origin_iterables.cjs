// Finds what put an item into what was iterated: a generator's yield, a Set's or Map's entry, a property
// that `Object.entries` lists. An item whose value is another one by now is not claimed.
'use strict';
const { trace, NONE, CLEARED, isObject } = require('./origin_trace.cjs');
const places = require('./origin_places.cjs');
const { countItems, formatScalar, lastBefore, readProperty, valueOf } = require('./origin_values.cjs');

// The yield of an item, `{act, made}`, or `{array, key, time}` of one that `yield*` took from an array.
function findYield(act, index) {
  const list = act.yields ?? [];
  const isWhole = list.length === act.yielded;
  if (!isWhole && list.some((one) => one.isDelegate)) return null;
  if (!isWhole) return { act, made: list.find((one) => one.index === index) };
  let left = index;
  for (const one of list) {
    const count = one.isDelegate ? countItems(one.value, one.time) : 1;
    if (count === null) return null;
    if (left < count) return one.isDelegate ? findDelegated(one, left) : { act, made: one };
    left -= count;
  }
  return null;
}

function findDelegated({ value, time }, index) {
  const act = trace.begun.get(value);
  return act ? findYield(act, index) : { array: value, key: String(index), time };
}

// Follows a generator's item of this value; undefined if it is not known.
function followYield(chain, generator, index, value, path = []) {
  const found = findYield(generator, index);
  if (found?.array) return chain.property(found.array, found.key, found.time, `[${found.key}]`);
  if (!found?.made) return undefined;
  const { act, made } = found;
  if (!path.length && value !== NONE && !Object.is(made.value, value)) return undefined;
  const by = places.argumentsOf(act) || ` by ${act.site.fn.shown}`;
  chain.link('returned', `yielded${by}`, made.site.node, act, { value: made.value });
  if (path.length) return chain.destructured({ ...made, act, target: { path } });
  return { node: made.site.rhs, act, time: made.time };
}

// The yield that a result of a generator's `next` is of; undefined for other objects.
function followNext(chain, result, text) {
  const birth = trace.births.get(result);
  const isNext = birth?.call && places.calleeName(birth.site.node) === 'next';
  const act = isNext && isObject(birth.call.recv) ? trace.begun.get(birth.call.recv) : null;
  const made = result.done ? act?.result : lastBefore(act?.yields, birth?.time ?? 0);
  if (act && result.done && result.value === undefined && !made) {
    const count = `${act.yielded} ${act.yielded === 1 ? 'item' : 'items'}`;
    chain.link('emptied', `${text}: the generator has no more, it yielded ${count}`, act.yields?.at(-1)?.site.node ?? act.site.node, act);
    return chain.end('not followed', `${act.site.fn.shown} had come to its end`);
  }
  if (!made || made.isDelegate || !Object.is(made.value, result.value)) return undefined;
  const by = places.argumentsOf(act) || ` by ${act.site.fn.shown}`;
  chain.link('returned', `${text} ${result.done ? 'returned' : 'yielded'}${by}`, made.site.node, act, { value: made.value });
  return { node: made.site.rhs ?? made.site.node.argument, act, time: made.time };
}

// The Map or Set that an iterator goes through, and what it gives of each entry.
function iteratedOf(collection) {
  if (collection instanceof Map) return { of: collection, part: 'entries' };
  if (collection instanceof Set) return { of: collection, part: 'values' };
  const birth = isObject(collection) ? trace.births.get(collection) : null;
  const part = birth?.call ? places.calleeName(birth.site.node) : null;
  const of = birth?.call?.recv;
  const isKnown = (of instanceof Map || of instanceof Set) && /^(entries|values|keys)$/.test(part ?? '');
  return isKnown ? { of, part } : null;
}

// The items of a Map or Set, or of its iterator, if nothing has changed since a time; null for others.
function listItems(collection, time) {
  const iterated = iteratedOf(collection);
  if (!iterated) return null;
  const isSame = countItems(iterated.of, time) !== null;
  return isSame ? [...iterated.of[iterated.part]()] : [];
}

// The value that `Object.entries`, `values` or `fromEntries` took from a property, and which one.
function listedProperty(list, index, path) {
  const birth = isObject(list) ? trace.births.get(list) : null;
  const node = birth?.call ? birth.site.node : null;
  if (node?.callee?.object?.name !== 'Object') return null;
  const source = valueOf(node.arguments[0], birth.act, birth.time);
  const method = places.calleeName(node);
  if (!isObject(source)) return null;
  const isEntry = method === 'entries' && path.length === 1 && String(path[0]) === '1';
  if (!isEntry && !(method === 'values' && !path.length)) return null;
  const key = isEntry ? list[index]?.[0] : Object.keys(source)[index];
  return { object: source, key, time: birth.time, text: `${places.textOf(node.arguments[0], birth.act)}.${key}` };
}

// Follows an item of a collection by its position and value; undefined if it is not known.
function followItem(chain, collection, index, item) {
  const { path = [], time, text } = item;
  const value = 'value' in item ? item.value : NONE; // undefined is one
  const generator = isObject(collection) ? trace.begun.get(collection) : null;
  if (generator) return followYield(chain, generator, Number(index), value, path);
  const listed = listedProperty(collection, index, path);
  if (listed) {
    const now = readProperty(listed.object, listed.key, listed.time);
    return Object.is(now, value) ? chain.property(listed.object, listed.key, listed.time, listed.text) : undefined;
  }
  const iterated = iteratedOf(collection);
  return iterated ? followStored(chain, iterated, index, { path, value, time, text }) : undefined;
}

function followStored(chain, { of, part }, index, { path, value, time, text }) {
  const isMap = of instanceof Map;
  const isValue = isMap && (part === 'values' ? !path.length : part === 'entries' && String(path[0] ?? 1) === '1');
  const isKey = !isMap || part === 'keys' || (part === 'entries' && String(path[0]) === '0');
  if (path.length > (part === 'entries' && isMap) || !(isKey || isValue)) return undefined;
  const events = trace.entries.get(of) ?? new Map();
  const keys = [...of.keys()];
  const stored = (key) => lastBefore(events.get(key), time);
  const holds = (key) => Object.is(isValue ? stored(key)?.value : key, value);
  // Since then the entries may have become others: only the value says which one it was.
  const isOld = [...events.values()].every((list) => list.at(-1).time < time);
  const same = [...new Set([...keys, ...events.keys()])].filter((one) => one !== CLEARED && holds(one));
  const key = isOld && holds(keys[index]) ? keys[index] : same.length === 1 ? same[0] : NONE;
  const event = key === NONE ? null : stored(key);
  if (!event) return undefined;
  const how = places.argumentsOf(event.act);
  const under = isValue ? ` under ${formatScalar(key)}` : '';
  chain.link('written', `${text} stored${under}${how}`, event.site.node, event.act, { value });
  if (isKey && isMap) return { node: event.site.node.arguments[0], act: event.act, time: event.time };
  return chain.afterWrite(event);
}

// A property that `Object.fromEntries` made; undefined for others.
function followFromEntries(chain, { site: { node }, act, time }, key) {
  if (places.calleeName(node) !== 'fromEntries' || node.callee.object?.name !== 'Object') return undefined;
  const [source] = node.arguments;
  const entries = valueOf(source, act, time);
  if (entries instanceof Map) {
    const index = [...entries.keys()].findIndex((one) => String(one) === key);
    const given = { path: ['1'], value: [...entries.values()][index], time, text: places.textOf(source, act) };
    return index < 0 ? undefined : followItem(chain, entries, index, given);
  }
  if (!Array.isArray(entries)) return undefined;
  const entry = entries.findLast((one) => String(one?.[0]) === key);
  return isObject(entry) ? chain.property(entry, '1', time, `${places.textOf(source, act)}[${entries.indexOf(entry)}][1]`) : undefined;
}

// Follows the length of an array to the last call or write that changed it.
function followLength(chain, array, time, text) {
  let last = null;
  for (const [key, list] of trace.properties.get(array) ?? []) {
    const event = key === '*' || key === 'length' ? lastBefore(list, time) : list.find((one) => one.time < time);
    if (event && event.time > (last?.time ?? 0)) last = event;
  }
  if (!last) return undefined;
  const how = last.site.method ? ` by ${last.site.method}` : '';
  chain.link('written', `${text} changed${how}${places.argumentsOf(last.act)}`, last.site.node, last.act);
  return chain.end('not followed', `the last change of ${text} is at ${places.describePlace(last.site.node, last.act)}`);
}

module.exports = {
  followFromEntries, followItem, followNext, listItems, followLength, followYield,
};
