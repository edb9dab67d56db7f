// Locations and calls of the trace, as links show them.
'use strict';
const path = require('path');
const { trace, NONE } = require('./origin_trace.cjs');
const { formatScalar, valueOf } = require('./origin_values.cjs');
const { childrenOf } = require('./origin_scopes.cjs');

const STACK = 6;
const STATEMENT = 160;
const ELEMENT_CALLBACKS = new Set([
  'map', 'forEach', 'filter', 'find', 'findIndex', 'findLast', 'some', 'every', 'flatMap', 'reduce',
  'reduceRight', 'sort', 'from', 'then', 'catch', 'finally', 'replace', 'replaceAll',
]);

const FUNCTION = /Function/;
const isFunction = (node) => FUNCTION.test(node?.type ?? '');

// A function's name as V8 has it in a stack trace.
function functionName(act) {
  const { fn } = act.site;
  if (fn.depth > 0) return fn.shown;
  return act.site.isModule ? '<anonymous>' : 'Object.<anonymous>';
}

// The source, if the script was compiled.
function fileOf(node, act) {
  return node.loc.source ?? act.site.file;
}

function makeFrame(node, act) {
  return { function: functionName(act), file: fileOf(node, act), line: node.loc.start.line };
}

function makeStack(act) {
  const frames = [];
  for (let at = act; at.call?.act && frames.length < STACK; at = at.call.act) {
    frames.push(makeFrame(trace.sites.get(at.call.site).node, at.call.act));
  }
  return frames;
}

function describePlace(node, act) {
  return `${path.basename(fileOf(node, act))}:${node.loc.start.line}`;
}

// A text with the variables' names that the source has.
function shownText(node, source) {
  const renamed = node.loc?.source ? renamedIn(node) : [];
  const parts = [];
  let last = node.start;
  for (const one of renamed.sort((a, b) => a.start - b.start)) {
    if (one.start < last) continue; // a shorthand property has its name twice
    parts.push(source.slice(last, one.start), one.original);
    last = one.end;
  }
  return parts.join('') + source.slice(last, node.end);
}

function renamedIn(node) {
  if (node.original) return [node];
  return [...childrenOf(node)].flatMap(renamedIn);
}

function textOf(node, act) {
  const own = shownText(node, node.code ?? act.site.source).slice(0, STATEMENT * 4).replaceAll(`;${trace.hook};`, '').replace(`${trace.hook};`, '').replace(`${trace.hook},`, '');
  return own.replace(/\s+/g, ' ').slice(0, STATEMENT);
}

// A text that a sentence of the answer has within it.
function short(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function calleeName(node) {
  const { callee } = node;
  if (callee?.type === 'MemberExpression') return callee.computed ? null : callee.property.name;
  return callee?.name ?? null;
}

// Whether a call is one of `f.call(self, …)`, whose first argument is no parameter.
const isOfCallMethod = (node) => node.callee?.type === 'MemberExpression' && calleeName(node) === 'call';

// Whether a function was called by what the node calls, and not by the node itself.
function isCallbackOf(child, node, caller) {
  const { fn } = child.site;
  if (!node.callee) return true;
  if (node.callee === fn.node) return false;
  if (node.arguments.includes(fn.node)) return true;
  const name = calleeName(node);
  if (node.callee.type === 'MemberExpression' && (name === 'call' || name === 'apply')) return false;
  if (name !== null && name === fn.name.split('.').at(-1)) return false;
  if (node.type === 'NewExpression') return !fn.name.endsWith('.constructor') && fn.name !== name;
  const passed = node.arguments.some((one) => {
    const value = caller ? valueOf(one, caller, child.began) : NONE;
    return typeof value === 'function' && value.name === fn.name.split('.').at(-1);
  });
  return passed || ELEMENT_CALLBACKS.has(name);
}

// The call that began an activation: its site, its caller, and whether a library came between.
function enclosingCall(act) {
  const { call } = act;
  if (!call?.act) return null;
  const site = trace.sites.get(call.site);
  return { call, site, act: call.act, isCallback: isCallbackOf(act, site.node, call.act) };
}

const shownParam = ({ name, param }) => param.node?.original ?? name;

// The call of a function with its plain arguments: `unmergeAt(i=5)`.
function argumentsOf(act) {
  const { fn } = act.site;
  const given = (fn.params ?? []).slice(0, 4).flatMap((one, at) => {
    const value = act.params[at];
    const isPlain = ['number', 'string', 'boolean'].includes(typeof value);
    return isPlain ? [`${shownParam(one)}=${formatScalar(value)}`] : [];
  });
  return given.length ? ` by ${fn.shown}(${given.join(', ')})` : '';
}

// The statement that calls an activation, or what it is a part of, and drops the promise.
function droppedPromise(act) {
  const made = enclosingCall(act);
  if (!made) return null;
  let { node } = made.site;
  const isPart = /^(CallExpression|MemberExpression|ArrayExpression|SpreadElement|ChainExpression|UnaryExpression)$/;
  while (node.parent && isPart.test(node.parent.type)) node = node.parent;
  if (node.parent?.type !== 'ExpressionStatement' || made.act.site.fn.depth === 0) return null;
  const top = node.type === 'UnaryExpression' ? node.argument : node;
  const value = valueOf(top, made.act, Infinity);
  const isPromise = value instanceof Promise || (value === NONE && act.site.fn.isAsync);
  return isPromise ? { node, act: made.act } : null;
}

module.exports = {
  argumentsOf, calleeName, describePlace, droppedPromise, enclosingCall, functionName, isCallbackOf,
  isFunction, isOfCallMethod, makeFrame, makeStack, short, textOf,
};
