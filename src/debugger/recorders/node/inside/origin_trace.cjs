// Holds what a rewritten script (origin_sites.cjs) reports: activations of functions, writes of
// variables and properties, results of calls. Everything is bounded; the oldest is dropped first.
'use strict';
const { types } = require('util');
const { findWrittenBytes } = require('./origin_ranges.cjs');

const KEPT = 64; // writes of one variable or property, and results of one call in one activation
const VIEWS = 1000; // of one buffer
const PENDING = 64; // generators that have not begun
const MOVED = 1000; // elements of an array whose order is compared
const NONE = Symbol('unknown');
const CLEARED = Symbol('cleared'); // the key of the events that took all entries out

const trace = {
  time: 0,
  current: null,
  activations: 0,
  // Of an object: Map of key to events; its making.
  properties: new WeakMap(),
  births: new WeakMap(),
  ignored: new WeakMap(), // the writes that an object did not take
  // Of a Map or Set: Map of key to events.
  entries: new WeakMap(),
  begun: new WeakMap(), // of a generator's object, and of what it iterates: the activation
  pending: [], // `{object, call, name}` of generators that have not begun
  proxies: new WeakMap(), // of a Proxy: `{target, handler}`
  foreign: [], // calls that ran code of another context, which is not recorded
  // Of an ArrayBuffer: its views whose elements were written, and the writes of its bytes by methods.
  views: new WeakMap(),
  ranges: new WeakMap(),
  defined: new WeakSet(), // objects that may have properties that are only read
  sites: new Map(),
  modules: new Map(), // of a file: the activation of its top level
  hook: '', // the text of the question in its script
  onWrite: null, // called with the writes of a variable, the last one included
  watch: null, // called with each activation, while a getter is read
  // Of the pattern that a question is about: called where a variable is written or a loop's round
  // begins, and with a call that did not come back, or gave a promise without having begun.
  atSite: null,
  atEnd: null,
};

function keep(list, event) {
  if (list.length >= KEPT * 2) {
    list.splice(1, KEPT);
    list.dropped = (list.dropped ?? 0) + KEPT;
  }
  list.push(event);
}

function addEvent(table, object, key, event) {
  let keys = table.get(object);
  // What a WeakMap does not keep alive is not kept here either.
  if (!keys) table.set(object, (keys = isWeak(object) ? new WeakMap() : new Map()));
  const list = keys.get(key);
  if (list) keep(list, event);
  else keys.set(key, [event]);
}

// `a ??= b` writes nothing where a value is there.
const LOGICAL = new Set(['||=', '&&=', '??=']);

function isNoWrite({ node }, list, value) {
  return LOGICAL.has(node.operator) && Boolean(list?.length) && Object.is(list.at(-1).value, value);
}

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

const isWeak = (object) => object instanceof WeakMap || object instanceof WeakSet;

function addProperty(object, key, event) {
  if (isObject(object)) addEvent(trace.properties, object, key, event);
}

// A write of a property; a frozen object does not take it, nor does a property that is only read.
function addWrite(object, key, event) {
  if (isObject(object) && (!Object.isExtensible(object) || trace.defined.has(object))) {
    const known = Object.getOwnPropertyDescriptor(object, key);
    const isOther = known && 'value' in known && !Object.is(known.value, event.value);
    const isAbsent = !known && event.value !== undefined && !Object.isExtensible(object);
    if (known?.set) return;
    if (isOther || isAbsent || known?.get) {
      addEvent(trace.ignored, object, key, event);
      return;
    }
  }
  addProperty(object, key, event);
}

// A property with a getter has no value of its own.
function addDefined(object, key, known, event) {
  trace.defined.add(object);
  const isGetter = Boolean(known?.get ?? known?.set);
  if (isGetter || (known && 'value' in known)) addProperty(object, key, { ...event, from: known, key: 'value', value: isGetter ? NONE : known.value });
}

class Activation {
  constructor(site, lexical, self, params, captured) {
    this.id = ++trace.activations;
    this.site = trace.sites.get(site);
    this.lexical = lexical;
    this.self = self;
    this.params = params;
    this.captured = captured; // the values of variables of the loops around it
    this.began = ++trace.time;
    const parent = trace.current;
    this.parent = parent;
    this.back = parent;
    this.isWaiting = false;
    this.call = null;
    this.result = null;
    this.stack = [];
    this.variables = null;
    this.calls = null;
    this.loops = null;
    this.loop = null; // the one that is about to begin its first round
    this.yields = null;
    this.yielded = 0;
    trace.watch?.(this);
    const pending = parent?.stack.at(-1);
    if (this.site.fn.isGenerator) {
      // The first step of a loop or a spread began it, and the call before only made it.
      const loop = parent?.loop && !parent.loop.generator ? parent.loop : null;
      if (loop) loop.generator = this;
      const made = beginGenerator(this);
      this.call = made ? made.call : loop ? generatorCall(this.site.fn, parent) : pending ?? null;
    } else if (pending) {
      this.call = pending;
      pending.child = this;
      if (pending.kids.length < KEPT) pending.kids.push(this);
    }
  }
}

// Finds the object of a generator that begins, unless several of its name have not begun.
function beginGenerator(act) {
  const { name } = act.site.fn;
  if (name.endsWith('Symbol.iterator') && isObject(act.self)) trace.begun.set(act.self, act);
  const own = trace.pending.filter((one) => one.name === name.split('.').at(-1));
  const looped = own.find((one) => one.object === act.parent?.loop?.collection);
  const found = looped ?? (own.length === 1 ? own[0] : null);
  if (!found) return null;
  trace.begun.set(found.object, act);
  trace.pending.splice(trace.pending.indexOf(found), 1);
  return found;
}

function addPending(call, object, { callee }) {
  const name = callee?.property?.name ?? callee?.name;
  if (trace.pending.some((one) => one.object === object)) return;
  trace.pending.push({ object, call, name });
  if (trace.pending.length > PENDING) trace.pending.shift();
}

// The call that made the generator which a loop goes through; null if it was made elsewhere.
function generatorCall(fn, act) {
  const { right } = act.loop.site.node;
  const name = right.callee?.property?.name ?? right.callee?.name;
  return name === fn.name.split('.').at(-1) ? act.calls?.get(right.site?.number)?.at(-1) ?? null : null;
}

function ownerOf(act, target) {
  let owner = act;
  for (let at = target.up; at > 0 && owner; at--) owner = owner.lexical;
  return owner;
}

function addVariable(act, target, event) {
  const owner = ownerOf(act, target);
  if (!owner) return;
  const lists = (owner.variables ??= []);
  const list = (lists[target.binding.index] ??= []);
  if (isNoWrite(event.site, list, event.value)) return;
  keep(list, event);
  trace.onWrite?.(list, event);
}

function addYield(act, number, value, isDelegate) {
  act.yields ??= [];
  const index = act.yielded++;
  keep(act.yields, { time: ++trace.time, site: trace.sites.get(number), value, index, isDelegate });
}

// Whether a function that ran within the write of a property is what the write called.
function isSetterOf({ site: { fn } }, key) {
  return Boolean(fn.isSetter) && fn.name.split('.').at(-1) === key;
}

// What a Proxy without a trap of this kind hands a property on to; null behind a trap.
function targetOf(object, trap) {
  let at = object;
  for (let depth = 0; depth < 20 && types.isProxy(at); depth++) {
    const known = trace.proxies.get(at);
    if (!known || known.handler?.[trap]) return null;
    at = known.target;
  }
  return at;
}

function pop(act, number) {
  while (act.stack.length) {
    const top = act.stack.pop();
    if (top.site === number) return top;
  }
  return null;
}

function addBytes({ buffer, ...range }, event) {
  const list = trace.ranges.get(buffer);
  const made = { ...range, ...event };
  if (list) keep(list, made);
  else trace.ranges.set(buffer, [made]);
}

function addView(view) {
  const known = trace.views.get(view.buffer) ?? [];
  if (known.length >= VIEWS) known.shift();
  known.push(view);
  trace.views.set(view.buffer, known);
}

function addMutation(act, site, top, time) {
  const { method } = site;
  const { recv, args } = top;
  const written = findWrittenBytes(method, recv, args, top.value);
  if (written) {
    addBytes(written, { time, site, act, value: NONE, how: method });
    return;
  }
  const event = (key, value, arg, more) =>
    ({ time, site, act, value, arg, ...more });
  if (/^runIn/.test(method)) {
    keep(trace.foreign, { time, site, act });
  } else if (method === 'set' && recv === Reflect) {
    addWrite(targetOf(args[0], 'set'), String(args[1]), event(args[1], args[2], 2));
  } else if (method === 'Proxy') {
    if (types.isProxy(top.value)) trace.proxies.set(top.value, { target: args[0], handler: args[1] });
  } else if (method === 'assign' && recv === Object) {
    const [to, ...from] = args;
    from.forEach((one, at) => {
      for (const key of isObject(one) ? Object.keys(one) : []) {
        addProperty(to, key, event(key, one[key], at + 1, { from: one, key }));
      }
    });
  } else if (method === 'defineProperty' && recv === Object) {
    const key = String(args[1]);
    addDefined(args[0], key, args[2], event(key, NONE, 2));
  } else if (method === 'defineProperties' && recv === Object) {
    for (const key of Object.keys(args[1])) addDefined(args[0], key, args[1][key], event(key, NONE, 1));
  } else if (isEntries(recv) && method === 'delete') {
    if (top.value) addEvent(trace.entries, recv, args[0], event(args[0], undefined, 0, { key: args[0], left: recv.size ?? null }));
  } else if (isEntries(recv) && method === 'clear') {
    if (top.before.length) addEvent(trace.entries, recv, CLEARED, event(CLEARED, NONE, undefined, { how: method, left: 0, keys: top.before }));
  } else if ((recv instanceof Map || recv instanceof WeakMap) && method === 'set') {
    addEvent(trace.entries, recv, args[0], event(args[0], args[1], 1, { key: args[0] }));
  } else if ((recv instanceof Set || recv instanceof WeakSet) && method === 'add') {
    addEvent(trace.entries, recv, args[0], event(args[0], args[0], 0));
  } else if (recv instanceof Date) {
    addProperty(recv, 'time', event('time', NONE, 0, { how: method }));
  } else if (isObject(recv) && recv[method] === Array.prototype[method]) {
    if (REMOVING.has(method)) {
      if (top.before !== recv.length || args.length > 2) addArrayMutation(recv, method, args, event, top.before > recv.length);
    } else if (top.before) addMoves(recv, top.before, event, method);
    else addArrayMutation(recv, method, args, event, false);
  }
}

const REMOVING = new Set(['pop', 'shift', 'splice']);
const isEntries = (object) => object instanceof Map || object instanceof Set || isWeak(object);

// Of a collection before a call: the elements that it orders anew, the keys that it takes out, or how
// many elements there are of which it may take some; null of other calls.
function stateBefore(object, { method }) {
  if (method === 'clear') return isEntries(object) ? [...object.keys()].slice(0, MOVED) : null;
  if (!Array.isArray(object) || types.isProxy(object)) return null;
  if (REMOVING.has(method)) return object.length;
  const isOrdered = method === 'sort' || method === 'reverse';
  return isOrdered && object.length <= MOVED ? Array.from(object) : null;
}

// The elements that are at another place after such a call, each with its place before.
function addMoves(array, before, event, moves) {
  const places = new Map();
  before.forEach((one, at) => places.set(one, [...(places.get(one) ?? []), at]));
  array.forEach((one, at) => {
    const origin = places.get(one)?.shift();
    if (origin !== undefined && !Object.is(before[at], one)) {
      addProperty(array, String(at), event('', one, undefined, { moves, origin: String(origin) }));
    }
  });
}

function addArrayMutation(array, method, args, event, isShorter) {
  if (!Array.isArray(array)) addProperty(array, 'length', event('length', array.length));
  if (method === 'push') {
    const first = array.length - args.length;
    args.forEach((one, at) => addProperty(array, String(first + at), event('', one, at)));
    return;
  }
  // The others move elements.
  const left = isShorter ? { left: array.length } : {};
  const [key, more] = method === 'pop' ? ['length', left] : ['*', { moves: method, ...left }];
  addProperty(array, key, event(key, key === 'length' ? array.length : NONE, undefined, more));
  const first = method === 'splice' ? Number(args[0]) : 0;
  const from = method === 'splice' ? 2 : 0;
  if (method === 'splice' || method === 'unshift') {
    const begin = first < 0 ? Math.max(array.length + first, 0) : first;
    args.slice(from).forEach((one, at) => {
      addProperty(array, String(begin + at), event('', one, from + at));
    });
  }
}

const hooks = {
  // A function begins.
  i(number, lexical, self, params, captured) {
    const act = new Activation(number, lexical, self, params, captured);
    trace.current = act;
    if (lexical === null) trace.modules.set(act.site.file, act);
    return act;
  },
  // A function ends.
  x(act) {
    trace.atEnd?.(act.stack.at(-1));
    trace.current = act.isWaiting ? null : act.back;
  },
  // A catch clause begins.
  c(act) {
    if (act.isWaiting) act.back = null; // what it waited for was rejected
    act.isWaiting = false;
    trace.current = act;
  },
  // Variables are written.
  a(act, number, value) {
    const site = trace.sites.get(number);
    const time = ++trace.time;
    trace.atSite?.(act, number, value);
    for (const target of site.targets) addVariable(act, target, { time, site, act, value, target });
    return value;
  },
  // What a pattern is about to take apart.
  t(act, number, value) {
    trace.atSite?.(act, number, value);
    return value;
  },
  u(act, number, result, value) {
    hooks.a(act, number, value);
    return result;
  },
  // A loop over a collection begins, and each round.
  l(act, number, value) {
    act.loop = { site: trace.sites.get(number), collection: value, index: -1, generator: null };
    (act.loops ??= new Map()).set(number, act.loop);
    trace.atSite?.(act, number, value);
    return value;
  },
  y(act, number, values) {
    trace.current = act;
    const site = trace.sites.get(number);
    const loop = act.loops?.get(number);
    act.loop = null;
    if (!loop) return;
    trace.atSite?.(act, number, loop.collection);
    loop.index += 1;
    const time = ++trace.time;
    const round = { collection: loop.collection, index: loop.index, generator: loop.generator };
    site.targets.forEach((target, at) => {
      addVariable(act, target, { time, site, act, value: values[at], target, round });
    });
  },
  // A property is written: its object, its key, then the whole.
  b(act, number, object) {
    act.stack.push({
      site: number, recv: object, key: undefined, child: null, kids: [], args: null, began: trace.time, act,
    });
    return object;
  },
  k(act, key) {
    const top = act.stack.at(-1);
    if (top) top.key = key;
    return key;
  },
  e(act, number, result) {
    trace.current = act;
    const top = pop(act, number);
    const site = trace.sites.get(number);
    let value = result;
    if (site.node.type === 'UpdateExpression' && !site.node.prefix) {
      const step = typeof result === 'bigint' ? 1n : 1;
      value = site.node.operator === '++' ? result + step : result - step;
    }
    if (top) {
      const key = site.key ?? (typeof top.key === 'symbol' ? top.key : String(top.key));
      // A typed array keeps what its elements can hold: 44 of 300.
      const isView = ArrayBuffer.isView(top.recv);
      const isConverted = isView && typeof value === 'number';
      const given = value;
      if (isConverted) value = top.recv[key] ?? value;
      if (isView && top.recv.BYTES_PER_ELEMENT && !trace.properties.has(top.recv)) addView(top.recv);
      if (site.node.operator === 'delete') value = undefined;
      const event = { time: ++trace.time, site, act, value, isConverted };
      if (isConverted && !Object.is(given, value)) event.given = given;
      const known = isObject(top.recv) ? trace.properties.get(top.recv)?.get(key) : null;
      const isTaken = !top.kids.some((one) => isSetterOf(one, key)) && !isNoWrite(site, known, value);
      if (isTaken) addWrite(targetOf(top.recv, 'set'), key, event);
    }
    return result;
  },
  // A class is made.
  cl(act, index, value) {
    (act.classes ??= [])[index] = value;
  },
  // Properties are written by a pattern.
  m(act, numbers, result, targets) {
    trace.current = act;
    const time = ++trace.time;
    targets.forEach(([object, key], at) => {
      const site = trace.sites.get(numbers + at);
      addWrite(targetOf(object, 'set'), String(key), { time, site, act, value: isObject(object) ? object[key] : NONE });
    });
    return result;
  },
  // A field of a class is set.
  f(act, number, self, value) {
    const site = trace.sites.get(number);
    addProperty(self, site.key, { time: ++trace.time, site, act, value });
    return value;
  },
  // A call: its site, its receiver, its arguments, its result.
  s(act, number) {
    trace.current = act; // a loop that waited has no event of its own when it ends
    act.stack.push({
      site: number, recv: NONE, child: null, kids: [], args: [], began: trace.time, act,
    });
    return number;
  },
  o(act, object) {
    const top = act.stack.at(-1);
    if (top) {
      top.recv = object;
      top.before = stateBefore(object, trace.sites.get(top.site));
    }
    return object;
  },
  g(act, value) {
    act.stack.at(-1)?.args.push(value);
    return value;
  },
  gs(act, values) {
    const list = [...values];
    act.stack.at(-1)?.args.push(...list);
    return list;
  },
  r(act, number, value) {
    trace.current = act;
    const top = pop(act, number);
    if (!top) return value;
    const site = trace.sites.get(number);
    const time = ++trace.time;
    top.time = time;
    top.value = value;
    if (!top.child && value instanceof Promise) trace.atEnd?.(top);
    const calls = (act.calls ??= new Map());
    const list = calls.get(number);
    if (list) keep(list, top);
    else calls.set(number, [top]);
    if (site.node.type === 'NewExpression' && isObject(value)) {
      if (top.child && top.child.self === undefined) top.child.self = value;
    }
    if (isObject(value) && !trace.births.has(value)) {
      trace.births.set(value, { time, site, act, call: top });
      if (!top.child && types.isGeneratorObject(value)) addPending(top, value, site.node);
    }
    if (site.method && MUTATING.has(site.method)) {
      try {
        addMutation(act, site, top, time);
      } catch {
        // A Proxy of the program may throw; the program did not ask for it.
      }
    }
    return value;
  },
  // A literal makes an object.
  n(act, number, value) {
    trace.births.set(value, { time: ++trace.time, site: trace.sites.get(number), act, object: value });
    return value;
  },
  // A function returns.
  q(act, number, value) {
    act.result = { time: ++trace.time, site: trace.sites.get(number), value };
    return value;
  },
  // A function waits, and goes on.
  p(act, value) {
    trace.current = act.back;
    act.isWaiting = true;
    return value;
  },
  // A generator yields a value, and waits.
  z(act, number, value) {
    addYield(act, number, value, false);
    return hooks.p(act, value);
  },
  // A generator yields all of another collection.
  zd(act, number, value) {
    addYield(act, number, value, true);
    return value;
  },
  w(act, number, value) {
    const next = trace.current?.stack.at(-1); // the call that has a generator go on
    act.isWaiting = false;
    act.back = null;
    trace.current = act;
    const calls = (act.calls ??= new Map());
    const list = calls.get(number);
    const event = { time: ++trace.time, value, next };
    if (list) keep(list, event);
    else calls.set(number, [event]);
    return value;
  },
};

const MUTATING = new Set();

module.exports = { Activation, trace, hooks, NONE, CLEARED, isObject, targetOf, MUTATING };
