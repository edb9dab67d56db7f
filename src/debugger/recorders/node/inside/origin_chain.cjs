// Follows a value back through the trace, link by link.
'use strict';
const { trace, NONE, isObject } = require('./origin_trace.cjs');
const values = require('./origin_values.cjs');
const collections = require('./origin_collections.cjs');
const iterables = require('./origin_iterables.cjs');
const passed = require('./origin_passed.cjs');
const { beginPattern } = require('./origin_patterns.cjs');
const properties = require('./origin_properties.cjs');
const { rootOf } = require('./origin_calls.cjs');
const texts = require('./origin_texts.cjs');
const { partNode } = require('./origin_departures.cjs');
const { listWrites } = require('./origin_history.cjs');
const {
  argumentsOf, calleeName, describePlace, droppedPromise, enclosingCall, isCallbackOf, isFunction, isOfCallMethod, makeFrame, makeStack, short, textOf,
} = require('./origin_places.cjs');

const STEPS_MAX = 200;
const { formatValue, lastBefore, valueOf } = values;
// The expression whose value a statement has written or returned.
const WHOLE = {
  VariableDeclarator: (node) => node.init,
  AssignmentExpression: (node) => (node.operator === '=' ? node.right : null),
  ReturnStatement: (node) => node.argument,
};

class Chain {
  constructor(hit, order) {
    this.hit = hit;
    this.order = order;
    this.links = [];
    this.ended = 'not followed';
    this.ending = null;
    this.seen = new Set();
    this.member = null; // the query for the property that is being followed
    this.node = null; // the expression of this step
    this.value = hit.value;
    this.whole = hit.site.rhs;
    this.part = null; // of the text that is followed (origin_texts.cjs)
    this.departs = null; // what both sides of a failed check have from there on
  }

  // A query is a node of the source, the activation that it was evaluated in, and the time.
  follow(query) {
    let at = query;
    for (let step = 0; at && step < STEPS_MAX; step++) {
      if (this.links.length >= this.order.links) {
        this.end('bound', `${this.links.length} links`);
        return;
      }
      const key = `${at.node?.start}:${at.node?.end}:${at.act?.id}:${at.time}:${at.node?.type}`;
      if (this.seen.has(key)) return;
      this.seen.add(key);
      at = this.step(at);
    }
  }

  end(ended, text) {
    this.ended = ended;
    this.ending = text;
    return null;
  }

  link(kind, text, node, act, more = {}) {
    const { value, old, ...rest } = more;
    this.value = 'value' in more ? value : NONE;
    this.whole = WHOLE[node.type]?.(node) ?? null;
    this.links.push({
      kind, certainty: more.certainty ?? 'seen', text,
      frame: makeFrame(node, act), stack: makeStack(act),
      statement: textOf(node, act), details: [], operands: [], ...rest,
      new: value === undefined && !('value' in more) ? null : formatValue(value),
      old: old === undefined ? null : formatValue(old),
    });
    return this.links.at(-1);
  }

  step({ node, act, time }) {
    this.member = null;
    this.node = node;
    const entered = this.part ? this.locatePart(node, act, time) : undefined;
    if (entered !== undefined) return entered;
    const method = this[node.type];
    if (method) return method.call(this, node, act, time);
    const operands = this.operandsOf(node, act, time);
    if (!operands.length) return this.end('constant', `${short(textOf(node, act))} is a literal at ${describePlace(node, act)}`);
    return this.choose(operands, node, act, time);
  }

  // Finds the followed part in the value of an expression, and enters the piece that has it.
  locatePart(node, act, time) {
    const value = valueOf(node, act, time);
    this.part = texts.relocate(this.part, value);
    if (!this.part) return undefined;
    if (Array.isArray(value)) return this.enterPiece(texts.joinedPieces(value, null, act, time), node, act, time);
    return this.enterPiece(texts.listPieces(node, act, time, null), node, act, time);
  }

  // Follows the piece that has the part; undefined if the expression is not made of pieces.
  enterPiece(pieces, node, act, time) {
    if (!pieces) return undefined;
    const found = texts.findPiece(pieces, this.part, this.departs);
    const piece = found?.piece;
    const nodes = [...new Set(pieces.map((one) => one.node).filter((one) => one && one.type !== 'Literal'))];
    if (this.links.length && nodes.length > 1) {
      this.links.at(-1).operands = nodes.map((one) => ({
        text: short(textOf(one, act)), value: formatValue(valueOf(one, act, time)), is_followed: one === piece?.node,
      }));
    }
    if (!piece) return this.end('not followed', `which part of ${short(textOf(node, act))} gave the character is not known`);
    this.part = found.part;
    if (found.isMoved) this.departs = null;
    if (piece.isConstant) return this.end('constant', `${short(formatValue(piece.whole ?? piece.text))} is a literal at ${describePlace(node, act)}`);
    if (piece.kid) return collections.followResult(this, piece.kid, 'returned for this match');
    if (!piece.array) return { node: piece.node, act, time };
    this.whole = null;
    if (typeof piece.value !== 'string') this.part = null;
    return this.property(piece.array, piece.key, time, `${short(textOf(node.callee?.object ?? node, act))}[${piece.key}]`);
  }

  Literal(node, act) {
    return this.end('constant', `${short(node.raw)} is a literal at ${describePlace(node, act)}`);
  }

  Identifier(node, act, time) {
    if (node.name === 'undefined' || node.name === 'NaN') return this.Literal({ ...node, raw: node.name }, act);
    const name = node.original ?? node.name;
    const found = values.findVariable(node, act);
    if (!found) return this.end('not followed', `${name} is a global of Node, or comes from a library`);
    const event = lastBefore(found.events, time);
    if (event) return this.writtenVariable(name, event, found, time);
    if (found.binding.param) return passed.followParameter(this, name, found);
    if (found.binding.kind === 'catch') return this.end('not followed', `${name} is the exception caught at ${describePlace(found.binding.node, found.owner)}`);
    if (found.binding.kind === 'import') return this.end('not followed', `${name} is imported at ${describePlace(found.binding.node, found.owner)}`);
    if (isFunction(found.binding.node) || found.binding.kind === 'class') {
      return this.end('constant', `${name} is defined at ${describePlace(found.binding.node, found.owner)}`);
    }
    const later = found.events.find((one) => one.time > time);
    const what = later ? 'not written yet' : 'never written';
    this.link('other', `${name} declared, and ${what}`, found.binding.node, found.owner);
    if (later) return this.laterWrite(node.name, later);
    return this.end('uninitialised', `${name} has no value from its declaration`);
  }

  writtenVariable(name, last, found, time) {
    const event = this.findAppended(found.events, last);
    const { site, act, target, round } = event;
    const value = values.variableValue(event, event.time);
    if (this.isOther(value)) return this.otherRead(name, value, site.node, act);
    const before = found.events.filter((one) => one.time < event.time);
    const more = { value, certainty: found.isInferred ? 'inferred' : 'seen' };
    if (before.length) more.old = values.variableValue(before.at(-1), event.time);
    if (round) {
      const what = site.loop === 'ForInStatement' ? 'key' : 'element';
      const path = target.path.length ? `, of ${what}` : ` is ${what}`;
      this.link('loaded', `${name}${path} ${round.index} of ${short(textOf(site.node.right, act))}`, site.node, act, more);
      return collections.followElement(this, round.collection, round.index, event, target);
    }
    const count = before.length ? `, write ${before.length + 1}` : '';
    this.link('written', `${name} written${count}`, site.node, act, more);
    if (target.path.length) this.whole = null;
    if (site.node.type === 'UpdateExpression') return this.startOfCount(found, event, name);
    if (target.path.length) return this.destructured(event, time);
    return this.rightSide(site, event);
  }

  // The write that gave the followed part to a text which has grown since.
  findAppended(events, last) {
    const event = this.part ? texts.findAppended(events, last, this.part) : last;
    if (event === last) return last;
    this.whole = null;
    this.part = { ...this.part, text: event.value };
    return event;
  }

  // What `i++` counts up from.
  startOfCount(found, event) {
    const { site } = event;
    const first = [...found.events].reverse()
      .find((one) => one.time < event.time && one.site !== site);
    if (!first) return this.end('not followed', `counted by ${short(textOf(site.node, event.act))}`);
    return this.rightSide(first.site, first);
  }

  destructured(event) {
    const { target, value, site, act } = event;
    const fallback = target.rest ? null : this.defaultOf(target, value, site.rhs, event.time);
    if (fallback) {
      this.links.at(-1).details.push(...collections.describeLacking(value, target.path, event.time));
      return { node: fallback, act, time: event.time };
    }
    let object = value;
    for (const key of target.path.slice(0, -1)) object = values.readProperty(object, key, event.time);
    if (isObject(object) && !target.rest) {
      const key = target.path.at(-1);
      const find = Object.is(this.value, value) ? this.property : this.propertyOfValue;
      if (collections.hasOrigin(object, key, event.time)) return find.call(this, object, key, event.time, key);
    }
    if (!site.rhs) return this.end('not followed', null);
    const isPart = target.path.length === 1 && !target.rest;
    const promised = isPart ? collections.followSettled(this, site.rhs, target.path[0], event, target.node.original ?? target.node.name) : undefined;
    if (promised !== undefined) return promised;
    return { node: target.rest ? site.rhs : collections.partOf(site.rhs, target.path), act, time: event.time };
  }

  // The default in a pattern that gave a name its value; null if that came from the whole value.
  defaultOf({ path, fallback, outer }, whole, node, time) {
    let depth = whole === NONE ? collections.lackingLiteral(node, path) : collections.lackingPart(whole, path, time);
    while (depth !== null) {
      const at = depth;
      const from = outer?.find((one) => one.depth === at)?.node;
      if (!from) return fallback ?? null;
      const lacking = collections.lackingLiteral(from, path.slice(depth));
      if (lacking === null) return collections.partOf(from, path.slice(depth));
      depth += lacking;
    }
    return null;
  }

  // The right side of an assignment, before it.
  rightSide(site, event) {
    const { node } = site;
    const { act, time } = event;
    const piece = this.part ? this.enterPiece(texts.listPieces(node, act, time, null), node, act, time) : undefined;
    if (piece !== undefined) return piece;
    if (node.type === 'AssignmentExpression' && node.operator !== '=' && !/^(\|\||&&|\?\?)=$/.test(node.operator)) {
      return this.choose([node.left, ...this.operandsOf(node.right, act, time)], node, act, time);
    }
    if (!site.rhs) return this.end('not followed', null);
    const before = /^(\|\||&&|\?\?)=$/.test(node.operator ?? '') ? valueOf(node.left, act, time) : NONE;
    if (before === NONE) return { node: site.rhs, act, time };
    // `a ||= b` leaves a value that is there.
    const isSet = { '||=': !before, '&&=': Boolean(before), '??=': before === null || before === undefined };
    return { node: isSet[node.operator] ? site.rhs : node.left, act, time };
  }

  ThisExpression(node, act) {
    return passed.followThis(this, act);
  }

  MemberExpression(node, act, time) {
    const object = valueOf(node.object, act, time);
    const text = short(textOf(node, act));
    if (node.object.name === 'arguments' && !values.findVariable(node.object, act)) return this.argument(node, act, time, text);
    const imported = values.findImportedMember(node, act);
    const assigned = lastBefore(imported?.events, time);
    if (assigned) return this.writtenVariable(text, assigned, imported);
    if (object === NONE) {
      // What the object comes from says where the value does.
      return /^(?:Identifier|CallExpression|ThisExpression)$/.test(node.object.type)
        ? { node: node.object, act, time }
        : this.end('not followed', `the object of ${text} is not known`);
    }
    const key = values.keyOf(node, act, time);
    if (key === NONE) return this.end('not followed', `the key of ${text} is not known`);
    if (object instanceof Promise) return this.promiseUsed(node.object, object, act, time);
    if (typeof object === 'string' && isIndex(key)) this.part = { text: object, at: Number(key) };
    if (!isObject(object)) return { node: node.object, act, time };
    const copied = collections.followCopied(this, node, act, time, text);
    if (copied !== undefined) return copied;
    const isThis = node.object.type === 'ThisExpression' && !values.readOwn(object, key) && !trace.properties.get(object)?.has(key);
    const given = isThis ? passed.givenThis(this, act) : undefined;
    if (given !== undefined) return given;
    const settled = collections.settledElement(node, object, key, act, time) ??
      (key === 'value' ? collections.settledOutcome(node.object, act, time) : null);
    if (settled) return settled;
    const whole = collections.assignedWhole(node.object, act, time);
    const promised = whole ? collections.followSettled(this, whole.rhs, key, whole, text) : undefined;
    if (promised !== undefined) return promised;
    const stepped = key === 'value' ? iterables.followNext(this, object, text) : undefined;
    if (stepped !== undefined) return stepped;
    this.member = { node, act, time };
    return this.property(object, key, time, text);
  }

  // `arguments[0]`: what the call gave.
  argument(node, act, time, text) {
    const self = values.selfOf(act);
    const call = self ? enclosingCall(self) : null;
    const given = call && !call.isCallback ? call.site.node.arguments : null;
    const key = values.keyOf(node, act, time);
    const isPlain = given?.every((one) => one.type !== 'SpreadElement') && !isOfCallMethod(call.site.node);
    if (!isPlain || !given[key]) return this.end('not followed', `${text} is an argument of the call`);
    this.link('passed', `${text} passed as ${short(textOf(given[key], call.act))}`, call.site.node, call.act);
    return { node: given[key], act: call.act, time: self.began };
  }

  ChainExpression(node, act, time) {
    return this.step({ node: node.expression, act, time });
  }

  promiseUsed(node, promise, act, time) {
    const text = `${short(textOf(node, act))} is a Promise, not awaited`;
    const found = node.type === 'Identifier' ? values.findVariable(node, act) : null;
    const event = lastBefore(found?.events, time);
    if (event && Object.is(event.value, promise)) {
      this.link('written', text, event.site.node, event.act, { value: promise });
      return this.rightSide(event.site, event);
    }
    this.link('loaded', text, node, act, { value: promise });
    return { node, act, time };
  }

  // A property that has the value of the last link.
  propertyOfValue(object, key, time, text) {
    this.whole = this.node;
    return this.property(object, key, time, text);
  }

  property(object, key, time, text) {
    return properties.followProperty(this, object, key, time, text);
  }

  // What a write of a property read.
  afterWrite(event) {
    return properties.followWrite(this, event);
  }

  // Whether a value is not the one that was read: another write came between, which was not seen.
  isOther(value) {
    const isRead = this.node === this.whole && this.value !== NONE && value !== NONE;
    return Boolean(isRead) && !Object.is(value, this.value);
  }

  otherRead(text, value, node, act) {
    const seen = `${formatValue(value)}, at ${describePlace(node, act)}`;
    return this.end('not followed', `no write of ${text} gave it this value; the last that was seen gave ${seen}${this.foreignCode()}`);
  }

  // The last call that ran code in another context.
  foreignCode() {
    const call = lastBefore(trace.foreign, this.hit.time);
    if (!call) return '';
    const { node } = call.site;
    return `; what ${short(textOf(node, call.act))} at ${describePlace(node, call.act)} ran is not recorded`;
  }

  // A write that came after the value was read, and the call that nobody waited for.
  laterWrite(text, event) {
    const link = this.link('other', `${text} not written before, but later`, event.site.node, event.act, { value: event.value });
    let act = event.act;
    for (let up = 0; act && up < 40; up++, act = act.parent) {
      const dropped = droppedPromise(act);
      if (dropped) {
        const where = describePlace(event.site.node, event.act);
        this.link('other', `a promise that nobody awaited writes it later (${where})`, dropped.node, dropped.act);
        return this.end('not followed', `await is missing at ${describePlace(dropped.node, dropped.act)}`);
      }
    }
    link.details.push('by code that ran after the value was read');
    return this.end('not followed', null);
  }

  CallExpression(node, act, time) {
    // The call that the question made itself came after the values that it asks for.
    const call = values.lastCall(node, act, node === this.hit.site.rhs ? this.hit.time : time);
    const text = short(textOf(node, act));
    if (!call) return this.end('not followed', `the call ${text} was not seen`);
    const returned = this.returnedBy(call, node);
    if (returned !== undefined) return returned;
    const before = call.kids[0]?.began ?? call.time;
    if (typeof call.recv === 'string' && /^(?:at|charAt)$/.test(calleeName(node))) this.part ??= { text: call.value, at: 0 };
    const piece = this.part ? this.enterPiece(texts.listPieces(node, act, before, call, this.part.text), node, act, before) : undefined;
    return piece === undefined ? collections.followCall(this, node, call, act, time) : piece;
  }

  NewExpression(node, act, time) {
    const call = values.lastCall(node, act, time);
    if (!call) return this.end('not followed', null);
    if (call.child) return this.end('allocation', `${short(textOf(node, act))} made it at ${describePlace(node, act)}`);
    return collections.followCall(this, node, call, act, time);
  }

  // The statement of the callee that returned the value; undefined if it is not the program's own.
  returnedBy(call, node) {
    const { child } = call;
    if (!child || isCallbackOf(child, node, call.act)) return undefined;
    const { fn } = child.site;
    const { result } = child;
    const isPromise = fn.isAsync && call.value instanceof Promise;
    if (result && (isPromise || Object.is(result.value, call.value))) {
      const how = isPromise ? 'resolved' : 'returned';
      const name = argumentsOf(child) || ` by ${fn.shown}`;
      this.link('returned', `${how}${name}`, result.site.node, child, { value: result.value });
      return { node: result.site.rhs ?? result.site.node.argument, act: child, time: result.time };
    }
    if (!result && !fn.isGenerator && call.value === undefined) {
      this.link('returned', `nothing returned by ${fn.shown}`, child.site.node, child, { value: undefined });
      return this.end('not followed', `${fn.shown} came to no return statement`);
    }
    return undefined;
  }

  AwaitExpression(node, act, time) {
    return { node: node.argument, act, time };
  }

  // What the call of `next` gave to a generator.
  YieldExpression(node, act, time) {
    const next = values.lastCall(node, act, time)?.next;
    const site = next ? trace.sites.get(next.site) : null;
    const [given] = site && calleeName(site.node) === 'next' ? site.node.arguments : [];
    if (!given) return this.end('not followed', `${short(textOf(node, act))} was given nothing by the program's own code`);
    const name = short(textOf(node, act));
    this.link('passed', `${name} was given ${short(textOf(given, next.act))}`, site.node, next.act, { value: valueOf(given, next.act, next.began) });
    return { node: given, act: next.act, time: next.began };
  }

  AssignmentExpression(node, act, time) {
    return this.rightSide({ node, rhs: node.right }, { act, time: timeOf(node, node.left, act, time) });
  }

  // `i++` gives what was there before it.
  UpdateExpression(node, act, time) {
    const { argument } = node;
    return { node: argument, act, time: node.prefix ? time : timeOf(node, argument, act, time) };
  }

  SequenceExpression(node, act, time) {
    return { node: node.expressions.at(-1), act, time };
  }

  LogicalExpression(node, act, time) {
    const chosen = values.chooseBranch(node, act, time);
    // Of `f(x) ?? 0` what made the default necessary says more than the default.
    const isDefault = chosen === node.right && chosen.type === 'Literal' && node.operator !== '&&';
    const operands = isDefault ? this.operandsOf(node.left, act, time) : [];
    if (operands.length) return this.choose(operands, node, act, time);
    return chosen ? { node: chosen, act, time } : this.choose(this.operandsOf(node, act, time), node, act, time);
  }

  ConditionalExpression(node, act, time) {
    const chosen = values.chooseBranch(node, act, time);
    return chosen ? { node: chosen, act, time } : this.choose(this.operandsOf(node, act, time), node, act, time);
  }

  ObjectExpression(node, act) {
    // An empty object gets all that it has by what is written to it.
    const isEmpty = !(node.properties ?? node.elements).length;
    const next = isEmpty ? collections.followFirstWrite(this, this.value, node) : null;
    return next ?? this.end('allocation', `it is made at ${describePlace(node, act)}`);
  }

  ArrayExpression(node, act, time) {
    const spread = node.elements.filter((one) => one?.type === 'SpreadElement');
    if (spread.length === 1) return collections.followContents(this, spread[0].argument, act, time);
    return this.ObjectExpression(node, act);
  }

  FunctionExpression(node, act) {
    return this.end('constant', `a function, defined at ${describePlace(node, act)}`);
  }

  ArrowFunctionExpression(node, act) {
    return this.FunctionExpression(node, act);
  }

  // The variables, properties and calls that an expression is computed from.
  operandsOf(node, act, time) {
    if (!node) return [];
    const branch = /^(Logical|Conditional)Expression$/.test(node.type) ? values.chooseBranch(node, act, time) : null;
    if (branch) return this.operandsOf(branch, act, time);
    if (['Identifier', 'MemberExpression', 'CallExpression', 'NewExpression', 'ThisExpression', 'AwaitExpression', 'ChainExpression', 'YieldExpression'].includes(node.type)) {
      return node.name === 'undefined' || node.name === 'NaN' ? [] : [node];
    }
    const inner = [node.left, node.right, node.argument, node.test, node.consequent, node.alternate, ...(node.expressions ?? []), ...(node.quasi?.expressions ?? [])];
    return inner.filter(Boolean).flatMap((one) => this.operandsOf(one, act, time));
  }

  // Follows the operand that explains a computed value, and notes them all.
  choose(operands, node, act, time) {
    const known = operands.map((one) => ({ node: one, value: valueOf(one, act, time) }));
    const last = this.links.at(-1);
    const chosen = this.part
      ? texts.chooseHolder(known, this.part)
      : chooseByValue(known, node) ?? chooseNoNumber(known, node) ?? collections.chooseOperand(known, act, time);
    if (last && known.length > 1) {
      last.operands = known.map((one) => ({
        text: short(textOf(one.node, act)), value: formatValue(one.value), is_followed: one === chosen,
      }));
    }
    if (!chosen) {
      const from = known.map((one) => short(textOf(one.node, act))).join(', ');
      return this.end('not followed', from ? `computed from ${from}` : `computed by ${short(textOf(node, act))}`);
    }
    if (isObject(chosen.value) && !(chosen.value instanceof Promise)) {
      return collections.followContents(this, chosen.node, act, time);
    }
    if (chosen.value instanceof Promise) return this.promiseUsed(chosen.node, chosen.value, act, time);
    return { node: chosen.node, act, time };
  }
}

// The time of the write that an expression within another made of its target.
function timeOf(node, target, act, time) {
  const object = target.type === 'MemberExpression' ? valueOf(target.object, act, time) : null;
  const events = target.type === 'Identifier'
    ? values.findVariable(target, act)?.events
    : isObject(object) ? trace.properties.get(object)?.get(values.keyOf(target, act, time)) : null;
  return events?.findLast((one) => one.time < time && one.site.node === node && one.act === act)?.time ?? time;
}

// The only operand that is no number, of a result that is none.
function chooseNoNumber(known, node) {
  const isArithmetic = /^(?:-|\*|\/|%|\*\*)=?$/.test(node.operator ?? '');
  const wrong = known.filter(({ value }) => value !== NONE && !isObject(value) && typeof value !== 'bigint' && Number.isNaN(Number(value)));
  return isArithmetic && wrong.length === 1 ? wrong[0] : null;
}

// Of `a + b` the text of digits that made a text of a sum, or the only one that the result shows.
function chooseByValue(known, node) {
  const operator = /^(?:\+|\*)=?$/.exec(node.operator ?? '')?.[0][0];
  const isPair = known.length === 2 && known.at(1).node === node.right && known[0].node === node.left;
  if (!operator || !isPair || known.some((one) => one.value === NONE || isObject(one.value))) return null;
  const digits = known.filter(({ value }) => typeof value === 'string' && /^\s*-?[\d.]+\s*$/.test(value));
  const numbers = known.filter(({ value }) => typeof value === 'number');
  if (operator === '+' && digits.length === 1 && numbers.length === 1) return digits[0];
  const isNeutral = ({ value }) => (operator === '*' ? value === 1 : value === 0 || value === '');
  const isSame = typeof known[0].value === typeof known[1].value;
  const rest = known.filter((one) => !isNeutral(one));
  return isSame && rest.length === 1 ? rest[0] : null;
}

const isIndex = (key) => /^(?:0|[1-9]\d*)$/.test(String(key));

// Begins at the part by which the value departs, or at the value.
function beginChain(hit, order) {
  const { site, act, value, departure } = hit;
  if (!departure) {
    const chain = new Chain(hit, order);
    const isCut = site.rhs.type === 'CallExpression' && /^(?:slice|substring|substr)$/.test(calleeName(site.rhs));
    if (isCut && typeof value === 'string' && value) chain.part = { text: value, at: 0 };
    return chain;
  }
  const found = partNode(site.rhs, act, value, departure.keys);
  const chain = new Chain({ ...hit, value: found.value, site: { ...site, rhs: found.node } }, order);
  if (typeof found.value === 'string' && found.value) chain.part = { text: found.value, at: departure.at ?? 0 };
  if (departure.at !== null) chain.departs = departure;
  return chain;
}

function followValue(hit, order) {
  const chain = beginChain(hit, order);
  const { act, began, departure } = hit;
  const { site, value } = chain.hit;
  const { rhs } = hit.site;
  const isOfCall = (departure ? rhs : rhs.object && rootOf(rhs))?.type === 'CallExpression'; // which the question has made
  const query = { node: site.rhs, act, time: isOfCall ? hit.time : began + 0.5 };
  const isCollection = isObject(value) && !(value instanceof Promise);
  if (!isCollection || !collections.followChanges(chain, value, query, order.expression)) chain.follow(query);
  if (isCollection && chain.ended === 'allocation') {
    const contents = collections.describeContents(value, query.time, chain.links);
    chain.ending = [chain.ending, contents].filter(Boolean).join('; ') || null;
  }
  const foreign = /^(constant|input)$/.test(chain.ended) ? '' : chain.foreignCode();
  if (foreign && !chain.ending?.includes(foreign)) chain.ending = `${chain.ending ?? ''}${foreign}`.replace(/^; /, '');
  const shown = departure
    ? { value: formatValue(departure.value), other: formatValue(departure.other), part: writePart(hit, site.rhs) }
    : { value: formatValue(value) };
  return {
    ...shown,
    frame: makeFrame(order.line ? { loc: { source: order.file, start: { line: order.line } } } : site.node, act),
    links: chain.links, ended: chain.ended, ending: chain.ending, history: order.is_history ? listWrites(hit) : null,
  };
}

// Follows what a pattern took apart when that failed; null if it was not recorded.
function followPattern(order, error) {
  const found = beginPattern(error);
  if (!found) return null;
  const { act, node, value } = found;
  const chain = new Chain({ site: { rhs: node, node }, act, value, time: ++trace.time }, order);
  const query = found.follow(chain);
  if (query) chain.follow(query);
  const frame = makeFrame({ loc: { source: order.file, start: { line: order.line } } }, act);
  return { value: formatValue(value), frame, links: chain.links, ended: chain.ended, ending: chain.ending };
}

function writePart({ site, act, departure }, node) {
  const path = textOf(node, act).slice(textOf(site.rhs, act).length);
  return departure.at ? `${path}.slice(${departure.at})` : path;
}

module.exports = { Chain, followPattern, followValue };
