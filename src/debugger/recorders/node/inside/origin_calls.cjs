// Finds the call of the statement that failed which the question is about, and what it gave.
'use strict';
const { trace, NONE } = require('./origin_trace.cjs');
const { childrenOf } = require('./origin_scopes.cjs');
const { lastCall, valueOf } = require('./origin_values.cjs');
const { textOf } = require('./origin_places.cjs');

// What the properties of an expression are read of: `f()` of `f().a.b`.
function rootOf(node) {
  let at = node;
  while (at.type === 'MemberExpression') at = at.object;
  return at;
}

const isOfCall = (node) => /^(?:Call|New)Expression$/.test(rootOf(node).type);

// Gives a hit the value that its expression had in the program, and the time after it.
function readMadeCall(hit, line) {
  const { act, site } = hit;
  const text = textOf(site.rhs, act);
  const walk = (node) => {
    if (node !== site.node && node.type === site.rhs.type && node.loc.end.line >= line &&
      textOf(node, act) === text && lastCall(rootOf(node), act, Infinity)) return node;
    for (const one of node === site.node ? [] : childrenOf(node)) {
      const found = walk(one);
      if (found) return found;
    }
    return null;
  };
  const node = walk(site.fn.node);
  hit.time = ++trace.time;
  const value = node ? valueOf(node, act, hit.time) : NONE;
  if (value === NONE) hit.error = `no result of ${text} was seen`;
  else Object.assign(hit, { value, began: hit.time, site: { ...site, rhs: node } });
}

module.exports = { isOfCall, readMadeCall, rootOf };
