// Follows what a call gave to a function: its arguments, and its `this`.
'use strict';
const { trace, isObject, NONE } = require('./origin_trace.cjs');
const values = require('./origin_values.cjs');
const collections = require('./origin_collections.cjs');
const { calleeName, enclosingCall, isOfCallMethod, short, textOf } = require('./origin_places.cjs');

const { formatValue, lastBefore, valueOf } = values;

function followParameter(chain, name, found) {
  const { owner, binding } = found;
  const { param } = binding;
  const call = enclosingCall(owner);
  const value = 'value' in found ? found.value : owner.params[param.slot];
  if (!call) {
    chain.link('passed', `${name} passed to ${owner.site.fn.shown}`, owner.site.node, owner, { value });
    return chain.end('not followed', `${owner.site.fn.shown} was called by Node or a library, not by the program's own code`);
  }
  const { node } = call.site;
  const caller = call.act;
  // A setter, or a trap of a Proxy, gets what is assigned.
  if (!node.callee && param.position === (owner.site.fn.isSetter ? 0 : 2)) {
    chain.link('passed', `${name} passed by an assignment`, node, caller, { value });
    return chain.rightSide(call.site, { act: caller, time: owner.began });
  }
  if (call.isCallback) {
    return collections.followCallbackArgument(chain, name, param, owner, call);
  }
  const bound = boundCall(node, caller, owner.began);
  const position = param.position + isOfCallMethod(node) - (bound?.count ?? 0);
  if (bound && position < 0) {
    const argument = bound.node.arguments[param.position + 1];
    chain.link('passed', `${name} bound as ${short(textOf(argument, bound.act))}`, bound.node, bound.act, { value });
    return { node: argument, act: bound.act, time: bound.time };
  }
  const argument = node.arguments?.[position];
  const isSpread = node.arguments?.slice(0, position + 1).some((one) => one.type === 'SpreadElement');
  if (isSpread) {
    chain.link('passed', `${name} passed by a spread`, node, caller, { value });
    return spreadArgument(chain, node, position, { act: caller, time: owner.began }, value);
  }
  const whole = argument ? valueOf(argument, caller, owner.began) : undefined;
  const fallback = param.rest ? null : chain.defaultOf(param, whole, argument, owner.began);
  const isGiven = !argument && !fallback && value !== undefined && !param.path.length && !param.rest;
  if (isGiven) return passedByLibrary(chain, name, found, call);
  if (fallback || !argument) {
    chain.link('passed', `${name}: ${fallback ? 'by default' : 'no argument given'}`, node, caller, { value });
    if (!fallback) return chain.end('uninitialised', `the call gives ${name} no argument`);
    // It is evaluated outside of the function, and may read the parameters before it.
    const act = Object.create(owner.lexical, { callee: { value: owner } });
    return { node: fallback, act, time: owner.began };
  }
  const isWhole = !param.path.length && !param.rest;
  if (isWhole && whole !== NONE && !Object.is(whole, value)) return passedByLibrary(chain, name, found, call);
  const text = textOf(argument, caller);
  const as = text === name ? '' : ` as ${short(text)}`;
  chain.link('passed', `${name} passed${as}`, node, caller, { value });
  const next = { node: argument, act: caller, time: owner.began };
  return param.path.length ? patternArgument(chain, param, next, value) : next;
}

// Of a call with one spread the argument's place in the array follows from those before it.
function spreadArgument(chain, node, position, at, value) {
  const spreads = node.arguments.filter((one) => one.type === 'SpreadElement');
  const next = { node: spreads[0].argument, ...at };
  const array = spreads.length === 1 ? valueOf(next.node, at.act, at.time) : NONE;
  const index = position - node.arguments.indexOf(spreads[0]);
  if (!Array.isArray(array) || !Object.is(values.readProperty(array, index, at.time), value)) return next;
  const name = `${textOf(next.node, at.act)}[${index}]`;
  const found = next.node.type === 'Identifier' ? values.findVariable(next.node, at.act) : null;
  const param = found?.binding.param;
  const isGiven = param?.rest && !param.path.length && !lastBefore(found.events, at.time);
  if (!isGiven || collections.hasOrigin(array, index, at.time)) {
    return chain.propertyOfValue(array, index, at.time, name);
  }
  const own = { ...param, position: param.position + index, rest: false };
  return followParameter(chain, name, { ...found, binding: { ...found.binding, param: own }, value });
}

// A library's function called it, as an event does: of the call's arguments the same value may be it.
function passedByLibrary(chain, name, { owner, binding }, { site: { node }, act }) {
  const value = owner.params[binding.param.slot];
  const same = node.arguments.filter((one) => Object.is(valueOf(one, act, owner.began), value));
  const by = calleeName(node) ?? 'a library';
  const certainty = same.length === 1 ? 'inferred' : 'seen';
  chain.link('passed', `${name} passed by ${by}`, node, act, { value, certainty });
  if (same.length === 1) return { node: same[0], act, time: owner.began };
  return chain.end('not followed', `${owner.site.fn.shown} was called by ${by}`);
}

function patternArgument(chain, param, next) {
  const whole = valueOf(next.node, next.act, next.time);
  let object = whole;
  for (const key of param.path.slice(0, -1)) object = isObject(object) ? values.readProperty(object, key, next.time) : NONE;
  const key = param.path.at(-1);
  if (!isObject(object) || object === NONE) return { ...next, node: collections.partOf(next.node, param.path) };
  return chain.propertyOfValue(object, key, next.time, key);
}

// A method that was called without its object, by a plain name or by a library; undefined of others.
function givenThis(chain, act) {
  const method = values.selfOf(act);
  const call = method ? enclosingCall(method) : null;
  const { self } = method ?? {};
  if (!call) return givenByTimer(chain, method);
  if (isObject(self) && hasMethod(self, method.site.fn)) return undefined;
  const { node } = call.site;
  const isPlain = node.type === 'CallExpression' && /^(?:Identifier|ConditionalExpression|LogicalExpression)$/.test(node.callee.type);
  const isLibrary = call.isCallback && !call.act.site.fn.isSetter;
  if (!isPlain && !isLibrary) return undefined;
  const what = self === globalThis ? 'the global object' : formatValue(self);
  const { shown } = method.site.fn;
  const how = isLibrary ? `${calleeName(node) ?? 'a library'} calls ${shown}` : `${short(textOf(node.callee, call.act))} is called without an object, ${shown}`;
  chain.link('passed', `${how} with this = ${what}`, node, call.act, { value: self });
  if (isLibrary) return chain.end('not followed', `${shown} was called by ${calleeName(node) ?? 'a library'}`);
  return { node: node.callee, act: call.act, time: method.began };
}

function followThis(chain, act) {
  const given = givenThis(chain, act);
  if (given !== undefined) return given;
  const self = values.selfOf(act)?.self;
  const birth = isObject(self) ? trace.births.get(self) : null;
  if (!birth) return chain.end('allocation', 'this was made before, or by a library');
  chain.link('allocated', 'this made', birth.site.node, birth.act, { value: self });
  return chain.end('allocation', null);
}

// A method that Node calls later, on an object that a call of the program made, as of `setTimeout`.
function givenByTimer(chain, method) {
  const birth = isObject(method?.self) ? trace.births.get(method.self) : null;
  if (!birth?.call || birth.call.child || hasMethod(method.self, method.site.fn)) return undefined;
  const by = calleeName(birth.site.node) ?? 'a library';
  chain.link('passed', `${by} calls ${method.site.fn.shown} with this = an object of its own`, birth.site.node, birth.act, { value: method.self });
  return chain.end('not followed', `${method.site.fn.shown} was called by ${by}`);
}

// Whether an object has a function's method: its own, or one of its class.
function hasMethod(object, fn) {
  const known = values.readOwn(object, fn.name.split('.').at(-1));
  return typeof (known?.value ?? known?.getter) === 'function';
}

// The call of `bind` that made the function that a call calls, with plain arguments; null for others.
function boundCall({ callee }, act, time) {
  const birth = callee ? trace.births.get(valueOf(callee, act, time)) : null;
  const given = birth?.call && calleeName(birth.site.node) === 'bind' ? birth.site.node.arguments : null;
  if (!given || given.some((one) => one.type === 'SpreadElement')) return null;
  return { node: birth.site.node, act: birth.act, time: birth.time, count: Math.max(given.length - 1, 0) };
}

module.exports = { followParameter, followThis, givenThis };
