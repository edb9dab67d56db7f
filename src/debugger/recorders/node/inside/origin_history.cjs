// Lists the recorded writes of a variable, a property or an element before a place.
'use strict';
const { types } = require('util');
const { trace, NONE, isObject, targetOf } = require('./origin_trace.cjs');
const bytes = require('./origin_bytes.cjs');
const places = require('./origin_places.cjs');
const values = require('./origin_values.cjs');

const WRITES = 40;

const isWriteOf = (event) => ({ event, value: values.variableValue(event, event.time) });

// The writes, the first one first, and the value before them; null of an expression that is neither
// a variable nor a property with a value of its own.
function findWrites(node, act, time) {
  if (node.type === 'Identifier') {
    const found = values.findVariable(node, act);
    return found && { writes: found.events.filter((one) => one.time < time).map(isWriteOf), dropped: found.events.dropped ?? 0 };
  }
  const object = node.type === 'MemberExpression' ? values.valueOf(node.object, act, time) : NONE;
  const own = types.isProxy(object) ? targetOf(object, 'get') : object;
  const key = isObject(own) ? values.keyOf(node, act, time) : NONE;
  const exported = types.isModuleNamespaceObject(own) ? values.findExported(own, key) : null;
  if (exported) return { writes: exported.events.filter((one) => one.time < time).map(isWriteOf), dropped: exported.events.dropped ?? 0 };
  if (key === NONE || values.readOwn(own, key)?.getter) return null;
  const inBuffer = bytes.writesOfElement(own, key, time);
  if (inBuffer) return { writes: inBuffer.map((event) => ({ event, value: event.value ?? NONE })).reverse(), dropped: 0 };
  const events = trace.properties.get(own);
  const literal = values.literalProperty(own, key);
  const made = literal && !literal.spread
    ? [{ event: { site: { node: literal.property ?? literal.node }, act: literal.birth.act, time: literal.birth.time }, value: values.valueOf(literal.node, literal.birth.act, literal.birth.time), text: places.textOf(literal.node, literal.birth.act) }]
    : [];
  const all = [...(events?.get(key) ?? []), ...(events?.get('*') ?? [])].filter((one) => one.time < time);
  const written = all.sort((a, b) => a.time - b.time).map((event) => ({ event, value: event.value }));
  return { writes: [...made, ...written], dropped: events?.get(key)?.dropped ?? 0 };
}

// `{writes, dropped, is_last}`: whether the last one gave the value that was read.
function listWrites({ site, act, value, began }) {
  const found = findWrites(site.rhs, act, began + 0.5);
  if (!found) return null;
  const { writes, dropped } = found;
  const last = writes.at(-1);
  const textAt = ({ value: made, text = null }) => values.formatValue(made) ?? text;
  const rows = writes.map((one, at) => ({
    frame: places.makeFrame(one.event.site.node, one.event.act), stack: places.makeStack(one.event.act),
    statement: places.textOf(one.event.site.node, one.event.act),
    old: at > 0 ? textAt(writes[at - 1]) : null, new: textAt(one),
  }));
  const isLast = !last || last.value === NONE || Object.is(last.value, value);
  return { writes: rows.slice(-WRITES), dropped: dropped + Math.max(rows.length - WRITES, 0), is_last: isLast };
}

module.exports = { listWrites };
