// Follows a property of an object to its last write, the literal or the call that made it, or a getter.
'use strict';
const { types } = require('util');
const { trace, NONE, isObject, targetOf } = require('./origin_trace.cjs');
const values = require('./origin_values.cjs');
const collections = require('./origin_collections.cjs');
const iterables = require('./origin_iterables.cjs');
const removals = require('./origin_removals.cjs');
const bytes = require('./origin_bytes.cjs');
const { argumentsOf, describePlace, short, textOf } = require('./origin_places.cjs');

const { formatValue, lastBefore, valueOf } = values;

// The last write of a property before a time, or the literal that made it.
function followProperty(chain, object, key, time, text) {
  if (types.isProxy(object)) return proxied(chain, object, key, time, text);
  const exported = types.isModuleNamespaceObject(object) ? values.findExported(object, key) : null;
  const assigned = lastBefore(exported?.events, time);
  if (assigned) return chain.writtenVariable(text, assigned, exported);
  const length = key === 'length' && Array.isArray(object) ? iterables.followLength(chain, object, time, text) : undefined;
  if (length !== undefined) return length;
  const read = chain.node === chain.whole ? chain.value : NONE;
  const inBuffer = bytes.followElementBytes(chain, object, key, time, text, read);
  if (inBuffer !== undefined) return inBuffer;
  const events = trace.properties.get(object);
  const event = lastBefore(events?.get(key), time);
  const removal = { time, since: event?.time ?? 0, text };
  const removed = chain.isOther(undefined) ? undefined : removals.followRemoved(chain, object, key, removal);
  if (removed !== undefined) return removed;
  if (event && event.value !== NONE) {
    const isLast = events.get(key).at(-1) === event;
    const known = isLast && !events.has('*') ? values.readOwn(object, key) : null;
    // Code that is not rewritten has written it since.
    if (known && 'value' in known && !Object.is(known.value, event.value)) {
      chain.link('written', `${text} written, and changed since by a library`, event.site.node, event.act, { value: event.value });
      return chain.end('not followed', `a library's call changed ${text} later to ${formatValue(known.value)}${chain.foreignCode()}`);
    }
    return writtenProperty(chain, object, text, key, event, events);
  }
  const moved = lastBefore(events?.get('*'), time);
  if (moved) {
    chain.link('written', `${text} moved by ${moved.moves}`, moved.site.node, moved.act);
    return chain.end('not followed', `${moved.moves} moves elements`);
  }
  const literal = values.literalProperty(object, key);
  const now = events?.has(key) ? NONE : values.readOwn(object, key)?.value;
  if (literal) return literalValue(chain, literal, key, text, now);
  const holder = values.inheritedFrom(object, key);
  if (holder && (trace.properties.has(holder) || trace.births.has(holder))) {
    return followProperty(chain, holder, key, time, `${text}, inherited,`);
  }
  const getter = values.readOwn(object, key)?.getter;
  const isOwn = getter && !Function.prototype.toString.call(getter).includes('[native code]');
  if (isOwn) return readGetter(chain, object, key, getter, text);
  const made = collections.followMade(chain, object, key, time, text);
  return made === undefined ? unwritten(chain, object, key, time, text) : made;
}

function writtenProperty(chain, object, text, key, last, events) {
  const event = chain.findAppended(events.get(key) ?? [], last);
  if (event.site.node.operator === 'delete' && !chain.isOther(event.value)) {
    chain.link('written', `${text} deleted${argumentsOf(event.act)}`, event.site.node, event.act, { value: undefined });
    return chain.end('not followed', `${text} was deleted at ${describePlace(event.site.node, event.act)}`);
  }
  if (chain.isOther(event.value)) return chain.otherRead(text, event.value, event.site.node, event.act);
  const before = (events.get(key) ?? []).filter((one) => one.time < event.time);
  const more = { value: event.value };
  const old = before.length ? before.at(-1).value : values.valueBefore(object, key);
  if (old !== NONE) more.old = old;
  const by = event.site.method ? ` by ${event.site.method}` : '';
  if (event.origin !== undefined) {
    chain.link('written', `${text} moved by ${event.moves}, from [${event.origin}]`, event.site.node, event.act, more);
    return chain.propertyOfValue(object, event.origin, event.time, `[${event.origin}] before`);
  }
  const count = before.length ? `, write ${before.length + 1}` : '';
  const how = by || argumentsOf(event.act);
  chain.link('written', `${text} written${how}${count}`, event.site.node, event.act, more);
  if (event.isConverted) chain.whole = null;
  noteIgnored(chain, object, key, event.time);
  // Nothing was put there at first, and the value came after it was read.
  const isEmpty = (event.value === undefined || event.value === null) && event.value === chain.hit.value;
  const later = isEmpty ? events.get(key).find((one) => one.time > chain.hit.time && one.value !== event.value) : null;
  return later ? chain.laterWrite(text, later) : followWrite(chain, event);
}

// What a write of a property read: the right side, or the key if the value is a constant.
function followWrite(chain, event) {
  const { site, act, time } = event;
  if (event.from) return followProperty(chain, event.from, String(event.key), time, String(event.key));
  if (event.arg !== undefined) {
    const { arguments: given } = site.node;
    const isPlain = !given.slice(0, event.arg + 1).some((one) => one.type === 'SpreadElement');
    const began = act.calls?.get(site.number)?.at(-1)?.began ?? time;
    return isPlain && given[event.arg]
      ? { node: given[event.arg], act, time }
      : { node: given.find((one) => one.type === 'SpreadElement')?.argument ?? site.node, act, time: began };
  }
  const next = chain.rightSide(site, event);
  const isConstant = next && site.keyNode && (next.node.type === 'Literal' || next.node.name === 'undefined' || next.node.type === 'UpdateExpression');
  const { keyNode } = site;
  if (isConstant && keyNode && keyNode.type !== 'Literal') {
    const key = { text: textOf(keyNode, act), value: formatValue(valueOf(keyNode, act, time)), is_followed: true };
    chain.links.at(-1).operands = [key];
    return { node: keyNode, act, time };
  }
  return next;
}

function literalValue(chain, { birth, node, property, spread, inner }, key, text, now) {
  if (spread) {
    chain.link('loaded', `${text} copied by a spread`, node, birth.act);
    const from = short(textOf(node.argument, birth.act));
    const item = { value: now, time: birth.time, text: from };
    const given = inner === undefined ? undefined : iterables.followItem(chain, spread, inner, item);
    if (given !== undefined) return given;
    if (inner !== undefined && !Array.isArray(spread)) return { node: node.argument, act: birth.act, time: birth.time };
    const part = inner === undefined ? `${from}.${key}` : `${from}[${inner}]`;
    return followProperty(chain, spread, inner ?? key, birth.time, part);
  }
  const value = valueOf(node, birth.act, birth.time);
  if (chain.isOther(value)) return chain.otherRead(text, value, node, birth.act);
  const more = value === NONE ? {} : { value };
  const how = `set in the literal that made the object${argumentsOf(birth.act)}`;
  chain.link('written', `${text} ${how}`, property ?? node, birth.act, more);
  if (property) noteIgnored(chain, birth.object, key, birth.time);
  return { node, act: birth.act, time: birth.time };
}

// Writes that a frozen object or a property that is only read did not take.
function noteIgnored(chain, object, key, time) {
  const ignored = trace.ignored.get(object)?.get(key)?.findLast((one) => one.time > time && one.time < chain.hit.time);
  if (!ignored) return;
  const where = describePlace(ignored.site.node, ignored.act);
  chain.links.at(-1).details.push(`a write of ${formatValue(ignored.value)} at ${where} was ignored: the object does not take it`);
}

function unwritten(chain, object, key, time, text) {
  const known = values.readOwn(object, key);
  if (known?.getter) return readGetter(chain, object, key, known.getter, text);
  const later = trace.properties.get(object)?.get(key)?.find((one) => one.time > time);
  if (later) return chain.laterWrite(text, later);
  const made = known && chain.member ? collections.followWhole(chain, chain.member, text) : undefined;
  if (made !== undefined) return made;
  if (known) return chain.end('not followed', `${text} was set by a library, or before its own code ran${chain.foreignCode()}`);
  const asked = known ? null : askedKey(chain, object, key, text);
  if (asked) return asked;
  const birth = trace.births.get(object);
  if (birth?.call && !birth.call.child) {
    return chain.end('not followed', `${text} is not among what was recorded of ${short(textOf(birth.site.node, birth.act))}`);
  }
  if (birth) chain.link('allocated', `the object of ${text} made, without it`, birth.site.node, birth.act);
  return chain.end('not followed', `${text} was never written in this run`);
}

// The key under which an object has nothing, if it is computed: that may be the wrong one.
function askedKey(chain, object, key, text) {
  const { node, act, time } = chain.member ?? {};
  if (!node?.computed || node.property.type === 'Literal') return null;
  const has = Array.isArray(object) ? `index ${key} in an array of ${object.length}` : `no property ${formatValue(key)}`;
  const link = chain.link('computed', `${text}: ${has}`, node, act, { value: undefined });
  const birth = trace.births.get(object);
  if (birth) link.details.push(`the object was made at ${describePlace(birth.site.node, birth.act)}`);
  link.operands = [{ text: textOf(node.property, act), value: formatValue(valueOf(node.property, act, time)), is_followed: true }];
  return { node: node.property, act, time };
}

// A Proxy without a trap has the properties of its target.
function proxied(chain, proxy, key, time, text) {
  const target = targetOf(proxy, 'get');
  if (target) return followProperty(chain, target, key, time, text);
  return readAgain(chain, () => proxy[key], `${text} returned by the trap of its Proxy`, `${text} is read through a Proxy`);
}

function readGetter(chain, object, key, getter, text) {
  return readAgain(chain, () => getter.call(object), `${text} returned by its getter`, `${text} is computed by a getter`);
}

// A getter is run again, now: it reads what its object has by now.
function readAgain(chain, read, how, otherwise) {
  const before = trace.activations;
  let made = null;
  const kept = trace.current;
  trace.watch = (act) => { made ??= act; };
  trace.current = null;
  try {
    read();
  } catch {
    made = null;
  }
  trace.watch = null;
  trace.current = kept;
  if (!made || trace.activations === before || !made.result) {
    return chain.end('not followed', otherwise);
  }
  const { site, value, time } = made.result;
  if (!isObject(value) && chain.isOther(value)) {
    return chain.end('not followed', `${otherwise}, and is ${formatValue(value)} by now`);
  }
  chain.link('returned', how, site.node, made, { value, certainty: 'inferred' });
  return { node: site.rhs ?? site.node.argument, act: made, time };
}

module.exports = { followProperty, followWrite };
