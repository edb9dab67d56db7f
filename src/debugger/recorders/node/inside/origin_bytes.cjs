// Follows bytes of an ArrayBuffer to their last write, through whichever of its views that was made.
'use strict';
const { trace, NONE, isObject } = require('./origin_trace.cjs');
const places = require('./origin_places.cjs');
const { lastBefore, valueOf } = require('./origin_values.cjs');

const INDEX = /^(0|[1-9]\d*)$/;
const READS = /^(?:get|read)((?:Big)?U?[Ii]nt|Float|Double)(8|16|32|64)?(LE|BE)?$/;
const INPUTS = new Set(['readSync', 'randomFillSync', 'getRandomValues']);
const OTHERS = 2; // writes of further bytes that are named

const isElements = (object) => ArrayBuffer.isView(object) && Boolean(object.BYTES_PER_ELEMENT);

// The type of a number by a method's or an array's name, as DataView spells it: `Uint16`; '' for others.
function kindOf(name, size) {
  const family = { Double: 'Float', UInt: 'Uint', BigUInt: 'BigUint' }[name] ?? name;
  return `${family}${size ?? { Float: 32, Double: 64 }[name] ?? ''}`;
}

function kindOfElements(view) {
  const found = /^((?:Big)?[A-Z][a-z]+)(8|16|32|64)/.exec(Object.getPrototypeOf(Object.getPrototypeOf(view)) === Uint8Array.prototype ? 'Uint8' : view[Symbol.toStringTag]);
  return found ? kindOf(found[1], found[2]) : '';
}

// The bytes of a number; null if it cannot be told.
function encode(kind, size, value, isLittle) {
  try {
    const view = new DataView(new ArrayBuffer(size));
    view[`set${kind}`](0, value, isLittle);
    return new Uint8Array(view.buffer);
  } catch {
    return null;
  }
}

// The part of a buffer that an element, or a method that reads a number, has.
function elementRange(view, key) {
  const size = view.BYTES_PER_ELEMENT;
  const begin = view.byteOffset + Number(key) * size;
  return { buffer: view.buffer, begin, end: begin + size, kind: kindOfElements(view), isLittle: true };
}

function readRange(method, view, given) {
  const found = READS.exec(method);
  if (!found || !ArrayBuffer.isView(view)) return null;
  const kind = kindOf(found[1], found[2]);
  const size = Number(/\d+$/.exec(kind)?.[0]) / 8;
  const begin = view.byteOffset + Number(given[0] ?? 0);
  const isLittle = found[3] ? found[3] === 'LE' : Boolean(given[1]);
  return Number.isInteger(size) && Number.isInteger(begin) ? { buffer: view.buffer, begin, end: begin + size, kind, isLittle } : null;
}

// The writes of a part of a buffer before a time, the last one first: `{event, begin, end, bytes}`.
function writesOf({ buffer, begin, end }, time) {
  const found = [];
  for (const view of trace.views.get(buffer) ?? []) {
    const size = view.BYTES_PER_ELEMENT;
    const first = Math.max(Math.floor((begin - view.byteOffset) / size), 0);
    for (let at = first; view.byteOffset + at * size < end && at < view.length; at++) {
      const event = lastBefore(trace.properties.get(view)?.get(String(at)), time);
      if (!event) continue;
      const from = view.byteOffset + at * size;
      const bytes = encode(kindOfElements(view), size, event.value, true);
      found.push({ event, begin: from, end: from + size, bytes, view, key: String(at) });
    }
  }
  for (const one of trace.ranges.get(buffer) ?? []) {
    if (one.begin < end && one.end > begin && one.time < time) found.push({ event: one, begin: one.begin, end: one.end, bytes: one.bytes });
  }
  return found.sort((a, b) => b.event.time - a.event.time);
}

// Whether a write left other bytes than those that were read; null if that is not known.
function isOtherNow({ begin, end, bytes }, range, read) {
  if (!bytes || !read) return null;
  for (let at = Math.max(begin, range.begin); at < Math.min(end, range.end); at++) {
    if (bytes[at - begin] !== read[at - range.begin]) return true;
  }
  return false;
}

// Follows a part of a buffer; undefined if nothing was seen to write it.
function followBytes(chain, range, time, text, value = NONE) {
  const [last, ...rest] = writesOf(range, time);
  if (!last) return undefined;
  const size = range.end - range.begin;
  const read = value === NONE ? null : encode(range.kind, size, value, range.isLittle);
  const isOther = isOtherNow(last, range, read);
  const { event } = last;
  const { site, act } = event;
  const count = Math.min(last.end, range.end) - Math.max(last.begin, range.begin);
  const part = count < size ? `: ${count} of its ${size} bytes` : '';
  const how = event.how ? ` by ${event.how}` : '';
  const more = { certainty: isOther === null ? 'inferred' : 'seen' };
  if (event.value !== undefined && event.value !== NONE) more.value = event.value;
  if (isOther) {
    chain.link('written', `${text}${part} written${how}, and changed since by a library`, site.node, act, more);
    return chain.end('not followed', `a library's call changed ${text} after ${places.describePlace(site.node, act)}`);
  }
  const link = chain.link('written', `${text}${part} written${how}${places.argumentsOf(act)}`, site.node, act, more);
  if (part) link.details.push(...describeRest(rest));
  if (event.given !== undefined) link.details.push(`${event.given} was assigned, and the array's elements hold ${event.value} of it`);
  chain.whole = null; // it may be a part, or of another type
  if (!event.how) return chain.afterWrite(event);
  const first = Math.max(range.begin, event.begin);
  return followRange(chain, event, first - event.begin, Math.min(range.end, event.end) - first);
}

function describeRest(rest) {
  return rest.slice(0, OTHERS).map(({ event }) =>
    `bytes before it: ${places.describePlace(event.site.node, event.act)} \`${places.textOf(event.site.node, event.act)}\``);
}

// What a method that writes bytes read: an element of another collection, or its argument.
function followRange(chain, event, offset, count) {
  const { source, how, site, act, time } = event;
  const text = places.textOf(site.node, act);
  if (INPUTS.has(how)) return chain.end('input', `${text} at ${places.describePlace(site.node, act)}`);
  if (!source && event.arg === undefined) return chain.end('not followed', `${text} moves elements`);
  // Of a number that several elements make, none says where it comes from.
  if (source && count > event.size) return { node: how === 'copy' ? site.node.callee.object : site.node.arguments[0], act, time };
  const name = places.textOf(how === 'copy' ? site.node.callee.object : site.node.arguments[0], act);
  if (isElements(source?.object)) {
    const size = source.object.BYTES_PER_ELEMENT;
    const key = String(source.first + Math.floor(offset / event.size));
    const begin = source.object.byteOffset + Number(key) * size;
    const known = followBytes(chain, { buffer: source.object.buffer, begin, end: begin + size, kind: '' }, event.time, `${name}[${key}]`);
    if (known !== undefined) return known;
    if (how === 'copy') return { node: site.node.callee.object, act, time };
  } else if (Array.isArray(source?.object)) {
    const key = String(source.first + Math.floor(offset / event.size));
    return chain.property(source.object, key, event.time, `${name}[${key}]`);
  }
  return chain.afterWrite(event);
}

function followElementBytes(chain, view, key, time, text, value) {
  if (!isElements(view) || !INDEX.test(key)) return undefined;
  return followBytes(chain, elementRange(view, key), time, text, value);
}

// A number that a method of a buffer, a DataView or Atomics read.
function followRead(chain, node, call, act) {
  const method = places.calleeName(node);
  const given = node.arguments.map((one) => valueOf(one, act, call.began));
  const text = places.textOf(node, act);
  if (call.recv === Atomics && isElements(given[0])) {
    return followBytes(chain, elementRange(given[0], given[1]), call.time, text, method === 'load' ? call.value : NONE);
  }
  const range = readRange(method ?? '', call.recv, given);
  return range ? followBytes(chain, range, call.time, text, call.value) : undefined;
}

// The writes of a view's buffer that were not made by its own elements.
function otherWrites(object, time) {
  if (!isObject(object) || !ArrayBuffer.isView(object)) return [];
  const range = { buffer: object.buffer, begin: object.byteOffset, end: object.byteOffset + object.byteLength };
  return writesOf(range, time).filter((one) => one.view !== object);
}

// The writes of an element of a typed array, the last one first; null of other objects.
function writesOfElement(view, key, time) {
  return isElements(view) && INDEX.test(key) ? writesOf(elementRange(view, key), time).map(({ event }) => event) : null;
}

module.exports = { followElementBytes, followRead, otherWrites, writesOfElement };
