// The names of a script: which scope declares them, and which function it belongs to.
'use strict';

const FUNCTIONS = new Set([
  'FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression',
]);

function* childrenOf(node) {
  for (const key of Object.keys(node)) {
    if (key === 'parent' || key === 'scope') continue;
    const value = node[key];
    if (Array.isArray(value)) {
      for (const one of value) if (one && typeof one.type === 'string') yield one;
    } else if (value && typeof value.type === 'string') yield value;
  }
}

// The names that a pattern binds, each with the keys that lead to it in the value.
function targetsOf(pattern, path = []) {
  if (!pattern) return [];
  if (pattern.type === 'Identifier') return [{ node: pattern, path }];
  if (pattern.type === 'AssignmentPattern') {
    const inner = targetsOf(pattern.left, path);
    for (const one of inner) {
      // Of `{ c = 7 } = {}` the name has a default, and the object that it is read from another.
      if (pattern.left.type === 'Identifier') one.fallback = pattern.right;
      else (one.outer ??= []).push({ node: pattern.right, depth: path.length });
    }
    return inner;
  }
  if (pattern.type === 'RestElement') {
    return targetsOf(pattern.argument, path).map((one) => ({ ...one, rest: true }));
  }
  if (pattern.type === 'ArrayPattern') {
    return pattern.elements.flatMap((one, at) => targetsOf(one, [...path, String(at)]));
  }
  if (pattern.type === 'ObjectPattern') {
    return pattern.properties.flatMap((one) => {
      if (one.type === 'RestElement') return targetsOf(one, path);
      const isKnown = !one.computed && one.key;
      const key = isKnown ? String(one.key.name ?? one.key.value) : '?';
      return targetsOf(one.value, [...path, key]);
    });
  }
  return [];
}

class Scope {
  constructor(parent, fn) {
    this.parent = parent;
    this.fn = fn;
    this.names = new Map();
    this.isRepeated = parent?.fn === fn && parent.isRepeated; // of a loop: each round has variables of its own
  }

  declare(name, kind, node) {
    const known = this.names.get(name);
    if (known) return known;
    const isRepeated = this.isRepeated && (kind === 'let' || kind === 'const');
    const binding = { name, kind, node, depth: this.fn.depth, index: this.fn.count++, fn: this.fn, isRepeated };
    this.names.set(name, binding);
    return binding;
  }

  find(name) {
    for (let at = this; at; at = at.parent) {
      const binding = at.names.get(name);
      if (binding) return binding;
    }
    return null;
  }
}

function declareVars(node, scope) {
  for (const one of childrenOf(node)) {
    if (FUNCTIONS.has(one.type)) continue;
    if (one.type === 'VariableDeclaration' && one.kind === 'var') {
      for (const each of one.declarations) {
        for (const target of targetsOf(each.id)) scope.declare(target.node.name, 'var', each);
      }
    }
    declareVars(one, scope);
  }
}

function declareBlock(statements, scope) {
  for (let one of statements) {
    if (/^Export(Named|Default)/.test(one.type) && one.declaration) one = one.declaration;
    if (one.type === 'FunctionDeclaration' && one.id) scope.declare(one.id.name, 'function', one);
    else if (one.type === 'ClassDeclaration' && one.id) scope.declare(one.id.name, 'class', one);
    else if (one.type === 'VariableDeclaration' && one.kind !== 'var') {
      for (const each of one.declarations) {
        for (const target of targetsOf(each.id)) scope.declare(target.node.name, one.kind, each);
      }
    } else if (one.type === 'ImportDeclaration') {
      for (const each of one.specifiers) {
        each.parent = one;
        scope.declare(each.local.name, 'import', each);
      }
    }
  }
}

module.exports = { FUNCTIONS, Scope, childrenOf, declareBlock, declareVars, targetsOf };
