// Evaluates and describes values as they were at a time of the trace, without running the program.
'use strict';
const path = require('path');
const { types } = require('util');
const { trace, NONE, isObject, targetOf } = require('./origin_trace.cjs');

const TEXT = 80;
const ITEMS = 4;

function lastBefore(list, time) {
  if (!list) return null;
  for (let at = list.length - 1; at >= 0; at--) if (list[at].time < time) return list[at];
  return null;
}

function nameOf(object) {
  try {
    const prototype = Object.getPrototypeOf(object);
    return prototype?.constructor?.name ?? '';
  } catch {
    return '';
  }
}

function formatScalar(value) {
  if (typeof value === 'string') {
    return `'${value.length > TEXT ? `${value.slice(0, TEXT)}…` : value}'`;
  }
  if (typeof value === 'function') return `ƒ ${value.name}()`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `Array(${value.length})`;
  if (isObject(value)) return nameOf(value) || 'Object';
  return String(value);
}

function formatValue(value) {
  if (value === NONE) return null;
  if (!isObject(value) || typeof value === 'function') return formatScalar(value);
  try {
    if (value instanceof Error) return `${nameOf(value)}: ${value.message}`;
    if (value instanceof Date || value instanceof RegExp) return String(value);
    if (value instanceof Promise) return 'Promise';
    if (value instanceof Map || value instanceof Set) return `${nameOf(value)}(${value.size})`;
    return formatMembers(value);
  } catch {
    return 'object';
  }
}

function formatMembers(value) {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const items = Array.from(value).slice(0, ITEMS).map(formatScalar).join(', ');
    const name = Array.isArray(value) ? '' : nameOf(value);
    return `${name}(${value.length}) [${items}${value.length > ITEMS ? ', …' : ''}]`;
  }
  const parts = [];
  const keys = Object.keys(value);
  for (const key of keys.slice(0, ITEMS)) {
    const known = Object.getOwnPropertyDescriptor(value, key);
    parts.push(`${key}: ${'value' in known ? formatScalar(known.value) : '(getter)'}`);
  }
  const name = nameOf(value);
  const prefix = name && name !== 'Object' ? `${name} ` : '';
  return `${prefix}{${parts.join(', ')}${keys.length > ITEMS ? ', …' : ''}}`;
}

// The activation that owns a variable, and its writes.
function findVariable(node, act) {
  const binding = node.scope?.find(node.name);
  if (!binding) return null;
  let up = node.scope.fn.depth - binding.depth;
  // A parameter that another one's default reads: its function's own code has not begun.
  let owner = up < 0 ? act.callee : act;
  let holder = null; // the function of the round that made it
  for (; up > 0 && owner; up--) {
    if (binding.isRepeated && !holder && owner.site.fn.captured?.includes(binding)) holder = owner;
    owner = owner.lexical;
  }
  if (!owner) return null;
  const isNamed = binding.kind === 'import' && binding.node.type === 'ImportSpecifier';
  const exported = isNamed ? findExport(binding.node, owner.site.file, binding.node.imported) : null;
  const events = owner.variables?.[binding.index] ?? [];
  return exported ?? { binding, owner, ...(holder ? eventsOfRound(events, binding, holder) : { events }) };
}

// The writes of a loop's variable that made the value that a function has of it; those of other rounds
// are left out. Of several rounds with that value the last is taken.
function eventsOfRound(events, binding, { captured, site, began }) {
  const value = captured?.[site.fn.captured.indexOf(binding)];
  const isSame = (one) => one.time < began && Object.is(variableValue(one, one.time), value);
  const at = events.findLastIndex(isSame);
  if (at < 0) return { events: value === undefined ? [] : events };
  const later = binding.kind === 'let' ? events.filter((one) => one.time > began && one.act !== events[at].act) : [];
  return { events: [...events.slice(0, at + 1), ...later], isInferred: events.filter(isSame).length > 1 };
}

// The variable that another module of the program exports by its own name.
function findExport(specifier, file, exported) {
  const from = specifier.parent?.source?.value ?? '';
  if (!from.startsWith('.')) return null;
  const owner = trace.modules.get(path.resolve(path.dirname(file), from));
  const binding = owner?.site.scope.names.get(exported.name ?? exported.value);
  return binding ? { binding, owner, events: owner.variables?.[binding.index] ?? [] } : null;
}

// The same of `rates.total` behind `import * as rates`; null for other expressions.
function findImportedMember({ object, property, computed }, act) {
  const found = object.type === 'Identifier' && !computed ? findVariable(object, act) : null;
  const isNamespace = found?.binding.kind === 'import' && found.binding.node.type === 'ImportNamespaceSpecifier';
  return isNamespace ? findExport(found.binding.node, found.owner.site.file, property) : null;
}

// The variable of a module of the program that a namespace has under its own name. The module is
// known by its exports: its names, and their values.
function findExported(namespace, key) {
  const isOf = ({ site, variables }) => Object.keys(namespace).every((name) => {
    if (name === 'default') return true;
    const binding = site.scope.names.get(name);
    const last = binding ? variables?.[binding.index]?.at(-1) : null;
    return Boolean(binding) && (!last || Object.is(variableValue(last, Infinity), namespace[name]));
  });
  const [owner, ...others] = [...trace.modules.values()].filter(isOf);
  const binding = owner && !others.length ? owner.site.scope.names.get(key) : null;
  return binding ? { binding, owner, events: owner.variables?.[binding.index] ?? [] } : null;
}

function selfOf(act) {
  let at = act;
  while (at && at.site.node.type === 'ArrowFunctionExpression') at = at.lexical;
  return at;
}

// The object on the way of prototypes that has a property; null if the object itself has it.
function inheritedFrom(object, key) {
  try {
    if (Object.hasOwn(object, key)) return null;
    for (let at = Object.getPrototypeOf(object), up = 0; at && up < 20; up++, at = Object.getPrototypeOf(at)) {
      if (Object.hasOwn(at, key)) return at;
    }
  } catch {
    // A Proxy of the program.
  }
  return null;
}

function readOwn(object, key) {
  let at = object;
  for (let up = 0; up < 20 && at !== null && at !== undefined; up++) {
    const known = Object.getOwnPropertyDescriptor(at, key);
    if (known) return 'value' in known ? { value: known.value, own: up === 0 } : { getter: known.get };
    at = Object.getPrototypeOf(at);
  }
  return null;
}

// The value of a property at a time: what was written last before, or what it is by now.
function readProperty(object, key, time) {
  if (!isObject(object)) {
    if (typeof object === 'string') return object[key];
    return NONE;
  }
  if (types.isProxy(object)) return readProperty(targetOf(object, 'get') ?? NONE, key, time);
  if (key === 'length' && Array.isArray(object)) return lengthBefore(object, time) ?? NONE;
  const events = trace.properties.get(object);
  const event = lastBefore(events?.get(key), time);
  if (event && event.value !== NONE) return event.value;
  try {
    const known = readOwn(object, key);
    if (!known) return undefined;
    if (known.getter) return NONE;
    const first = events?.get(key)?.[0];
    if (first && first.time >= time && known.own) return valueBefore(object, key);
    return known.value;
  } catch {
    return NONE;
  }
}

// The value of a property before its first recorded write.
function valueBefore(object, key) {
  const literal = literalProperty(object, key);
  if (literal) {
    const { birth, node, spread, inner } = literal;
    if (!spread) return valueOf(node, birth.act, birth.time);
    return inner === undefined || Array.isArray(spread) ? readProperty(spread, inner ?? key, birth.time) : NONE;
  }
  const birth = trace.births.get(object);
  // Of an object that a library made nothing is known.
  return birth && (!birth.call || birth.call.child) ? undefined : NONE;
}

// The node of an element in the literal that made an array, or the collection that was spread into it.
function literalElement(birth, node, key) {
  let at = Number(key);
  if (!Number.isInteger(at)) return null;
  for (const one of node.elements) {
    if (one?.type === 'SpreadElement') {
      const { argument } = one;
      const isLiteral = argument.type === 'ArrayExpression' && argument.elements.every((each) => each?.type !== 'SpreadElement');
      const spread = isLiteral ? null : valueOf(argument, birth.act, birth.time);
      const size = isLiteral ? argument.elements.length : countItems(spread, birth.time);
      const isLast = one === node.elements.at(-1) && isObject(spread);
      if (size === null && !isLast) return null;
      if (isLast || at < size) {
        return isLiteral ? { birth, node: argument.elements[at] } : { birth, node: one, spread, inner: String(at) };
      }
      at -= size;
    } else if (at-- === 0) return one ? { birth, node: one } : null;
  }
  return null;
}

// How many items a collection gave before a time; null if it is not known.
function countItems(iterable, time) {
  const act = isObject(iterable) ? trace.begun.get(iterable) : null;
  if (!act) return lengthBefore(iterable, time);
  if ((act.yields?.length ?? 0) < act.yielded) return null;
  let count = 0;
  for (const one of act.yields ?? []) {
    const inner = one.isDelegate ? countItems(one.value, one.time) : 1;
    if (inner === null) return null;
    count += inner;
  }
  return count;
}

// The length of a collection that nothing has changed since a time; null if it is not known.
function lengthBefore(array, time) {
  if (array instanceof Set || array instanceof Map) {
    const isOld = [...(trace.entries.get(array)?.values() ?? [])].every((list) => list.at(-1).time < time);
    return isOld ? array.size : null;
  }
  if (!Array.isArray(array)) return null;
  for (const [key, list] of trace.properties.get(array) ?? []) {
    const isNew = key === '*' || key === 'length' || lastBefore(list, time) === null;
    if (isNew && list.at(-1).time > time) return null;
  }
  return array.length;
}

// The node of a property in the literal that made an object.
function literalProperty(object, key) {
  const birth = trace.births.get(object);
  const { node } = birth?.site ?? {};
  if (node?.type === 'ArrayExpression') return literalElement(birth, node, key);
  if (node?.type !== 'ObjectExpression') return null;
  for (const one of [...node.properties].reverse()) {
    if (one.type === 'SpreadElement') {
      const spread = valueOf(one.argument, birth.act, birth.time);
      if (isObject(spread) && Object.hasOwn(spread, key)) return { birth, node: one, spread };
    } else if (!one.computed && String(one.key.name ?? one.key.value) === key) {
      return one.kind === 'init' ? { birth, node: one.value, property: one } : null;
    }
  }
  return null;
}

function lastCall(node, act, time) {
  return node.site ? lastBefore(act.calls?.get(node.site.number), time) : null;
}

function keyOf(node, act, time) {
  const { property } = node;
  if (!node.computed) return (property.type === 'PrivateIdentifier' ? '#' : '') + property.name;
  const key = valueOf(property, act, time);
  return key === NONE || typeof key === 'symbol' ? key : String(key);
}

const arithmetic = {
  '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b,
  '===': (a, b) => a === b, '!==': (a, b) => a !== b, '<': (a, b) => a < b, '>': (a, b) => a > b,
  '<=': (a, b) => a <= b, '>=': (a, b) => a >= b,
};

const readers = {
  Literal: (node) => (node.regex ? NONE : node.value),
  Identifier(node, act, time) {
    if (node.name === 'undefined') return undefined;
    const found = findVariable(node, act);
    if (!found) {
      return node.name in globalThis && !node.scope?.find(node.name) ? globalThis[node.name] : NONE;
    }
    const event = lastBefore(found.events, time);
    if (event) return variableValue(event, time);
    const { param, kind, index } = found.binding;
    if (kind === 'class') return found.owner.classes?.[index] ?? NONE;
    return param ? found.owner.params[param.slot] : NONE;
  },
  ThisExpression(node, act) {
    const self = selfOf(act)?.self;
    return self === undefined ? NONE : self;
  },
  MemberExpression(node, act, time) {
    const event = lastBefore(findImportedMember(node, act)?.events, time);
    if (event) return variableValue(event, time);
    const object = valueOf(node.object, act, time);
    const key = object === NONE ? NONE : keyOf(node, act, time);
    return key === NONE ? NONE : readProperty(object, key, time);
  },
  ChainExpression: (node, act, time) => valueOf(node.expression, act, time),
  CallExpression: (node, act, time) => callValue(node, act, time),
  NewExpression: (node, act, time) => callValue(node, act, time),
  AwaitExpression: (node, act, time) => callValue(node, act, time),
  YieldExpression: (node, act, time) => callValue(node, act, time),
  TemplateLiteral(node, act, time) {
    const given = node.expressions.map((one) => valueOf(one, act, time));
    const isPlain = given.every((one) => one !== NONE && !isObject(one));
    return isPlain ? node.quasis.map((one, at) => one.value.cooked + (at < given.length ? String(given[at]) : '')).join('') : NONE;
  },
  UnaryExpression(node, act, time) {
    const value = valueOf(node.argument, act, time);
    if (value === NONE || isObject(value)) return NONE;
    return { '-': (one) => -one, '!': (one) => !one, '+': Number, void: () => undefined,
      typeof: (one) => typeof one }[node.operator]?.(value) ?? NONE;
  },
  BinaryExpression(node, act, time) {
    const [left, right] = [valueOf(node.left, act, time), valueOf(node.right, act, time)];
    const isPlain = [left, right].every((one) => one !== NONE && !isObject(one));
    return isPlain ? arithmetic[node.operator]?.(left, right) ?? NONE : NONE;
  },
  LogicalExpression(node, act, time) {
    const chosen = chooseBranch(node, act, time);
    return chosen ? valueOf(chosen, act, time) : NONE;
  },
  ConditionalExpression(node, act, time) {
    const chosen = chooseBranch(node, act, time);
    return chosen ? valueOf(chosen, act, time) : NONE;
  },
};

function callValue(node, act, time) {
  const call = lastCall(node, act, time);
  return call ? call.value : NONE;
}

function variableValue(event, time) {
  const { target, round } = event;
  if (round || !target.path.length) return event.value;
  if (target.rest) return NONE;
  let value = event.value;
  for (const key of target.path) {
    if (!isObject(value) && typeof value !== 'string') return NONE;
    value = readProperty(value, key, time);
  }
  const isDefault = value === undefined && (target.fallback || target.outer);
  return isDefault ? NONE : value;
}

// The branch of `a || b`, `a ?? b` or `c ? a : b` that was taken; null if it is not known.
function chooseBranch(node, act, time) {
  const test = valueOf(node.test ?? node.left, act, time);
  if (test === NONE) return null;
  if (node.type === 'ConditionalExpression') return test ? node.consequent : node.alternate;
  const isLeft = { '||': Boolean(test), '&&': !test, '??': test !== null && test !== undefined };
  return isLeft[node.operator] ? node.left : node.right;
}

function valueOf(node, act, time) {
  try {
    return readers[node.type] ? readers[node.type](node, act, time) : NONE;
  } catch {
    return NONE;
  }
}

const isGuilty = (value) =>
  value === undefined || value === null || Number.isNaN(value) || value === '' ||
  value === Infinity || value === -Infinity;

module.exports = {
  chooseBranch, countItems, findExported, findImportedMember, findVariable, formatScalar, formatValue, isGuilty, keyOf, lastBefore, lastCall,
  inheritedFrom, lengthBefore, literalProperty, readOwn, readProperty, selfOf, valueBefore, valueOf, variableValue,
};
