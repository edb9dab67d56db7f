// Puts the question's expression at its place in a script, to be evaluated with the names there.
'use strict';
const { FUNCTIONS, childrenOf } = require('./origin_scopes.cjs');

const HOOK = '__dbg_at';

// The names in an expression, and those that a function gives to its arguments.
function namesIn(node, found = new Set()) {
  if (node.type === 'Identifier') found.add(node.original ?? node.name);
  for (const one of childrenOf(node)) namesIn(one, found);
  return found;
}

// The names of an expression that a line declares: function arguments, those of a loop, and others.
function declaredBy(node, line, used) {
  if (node.loc.start.line !== line) return [];
  const loop = /^For/.test(node.type) && (node.init ?? node.left);
  const declaration = node.type === 'VariableDeclaration' ? node : loop;
  const patterns = FUNCTIONS.has(node.type) ? node.params
    : declaration?.type === 'VariableDeclaration' ? declaration.declarations.map((one) => one.id) : [];
  return patterns.flatMap((one) => [...namesIn(one)]).filter((name) => used.has(name));
}

function declaredAt(node, line, used) {
  return [...declaredBy(node, line, used), ...[...childrenOf(node)].flatMap((one) => declaredAt(one, line, used))];
}

// Returns the offset before which the question's expression is evaluated, and the text around it.
// Of a line that declares names of the expression, as the argument of a function in it or the
// variable of a loop without braces, the first code that has them.
function findHook(program, source, order, used) {
  let best = null;
  const declared = new Set(order.function ? [] : declaredAt(program, order.line, used));
  const consider = (node, rank, kind, parent, known) => {
    // A label belongs to the loop behind it.
    if (parent?.type === 'LabeledStatement') return;
    const isInBlock = /^(Program|BlockStatement|StaticBlock|SwitchCase)$/.test(parent?.type ?? '') ||
      /^Export/.test(parent?.type ?? '');
    const size = node.end - node.start;
    const missing = rank === 2 || !known ? declared.size : [...declared].filter((one) => !known.has(one)).length;
    const isBetter = !best || missing < best.missing || (missing === best.missing && (rank < best.rank ||
      (rank === best.rank && (rank === 2 ? size < best.size : node.start < best.start))));
    if (isBetter) best = { node, parent, rank, kind, size, start: node.start, isInBlock, missing };
  };
  const walk = (node, parent, known) => {
    const { line } = node.loc.start;
    const isFunction = FUNCTIONS.has(node.type);
    if (order.function) {
      const name = node.id?.name ?? (parent?.key ?? parent?.id ?? parent?.left?.property ?? parent?.left)?.name;
      if (isFunction && name === order.function) consider(node, 0, 'function');
    } else {
      const isHere = !order.isCompiled || node.loc.source === order.file;
      const isInside = isHere && line <= order.line && order.line <= node.loc.end.line;
      const isStatement = /Statement$|VariableDeclaration$/.test(node.type) &&
        node.type !== 'BlockStatement' && !/^For/.test(parent?.type ?? '') && !node.directive;
      const isBody = isStatement || (/^For/.test(parent?.type ?? '') && node === parent.body && node.type !== 'BlockStatement');
      const inner = isFunction ? new Set([...known, ...declaredBy(node, order.line, used)]) : known;
      // A function's head has no code: its body begins there.
      if (isHere && isFunction && line === order.line && node.body.type === 'BlockStatement') {
        consider(node, 1, 'function', null, inner);
      }
      if (isHere && isBody && line === order.line) consider(node, 0, 'statement', parent, known);
      else if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement' &&
        isHere && node.body.loc.start.line === order.line) consider(node.body, 1, 'arrow', null, inner);
      else if (isBody && isInside) consider(node, 2, 'statement', parent);
      // In a script that was made of several sources, code of one is within that of another.
      if (!isInside && !order.isCompiled) return;
    }
    // What a block declares is there for the statements behind it.
    const own = new Set(known);
    if (FUNCTIONS.has(node.type) || /^For/.test(node.type)) declaredBy(node, order.line, used).forEach((one) => own.add(one));
    for (const one of childrenOf(node)) {
      walk(one, node, new Set(own));
      if (one.type === 'VariableDeclaration') declaredBy(one, order.line, used).forEach((name) => own.add(name));
    }
  };
  walk(program, null, new Set());
  return best;
}

function hookText(order) {
  const when = order.when ? `,()=>(${order.when})` : '';
  return `${HOOK}(()=>(${order.expression})${when})`;
}

// The names that a minifier has given to variables around a place, by those that the source has.
function renamedAt(program, place) {
  const names = new Map();
  const walk = (node, depth) => {
    const known = names.get(node.original);
    if (node.original && (!known || depth >= known.depth)) names.set(node.original, { name: node.name, depth });
    const isOther = FUNCTIONS.has(node.type) && !(node.start <= place.start && place.end <= node.end);
    for (const one of childrenOf(node)) {
      if (!isOther || one === node.id) walk(one, depth + FUNCTIONS.has(node.type));
    }
  };
  walk(program, 0);
  return names;
}

// An expression of the user's with the names that the variables have in the script.
function renameIn(acorn, text, names) {
  if (!text || !names.size) return text;
  const found = [];
  const walk = (node, parent) => {
    const isKey = (parent?.property === node || parent?.key === node) && !parent.computed;
    if (node.type === 'Identifier' && !isKey && names.has(node.name)) found.push(node);
    for (const one of childrenOf(node)) walk(one, node);
  };
  walk(acorn.parseExpressionAt(text, 0, { ecmaVersion: 'latest', allowAwaitOutsideFunction: true }), null);
  let made = text;
  for (const one of found.sort((a, b) => b.start - a.start)) {
    made = made.slice(0, one.start) + names.get(one.name).name + made.slice(one.end);
  }
  return made;
}

// Returns the text with the question in it, the question, and the names that it had for others.
function insertHook(acorn, program, source, order) {
  const parsed = acorn.parseExpressionAt(order.expression, 0, { ecmaVersion: 'latest', allowAwaitOutsideFunction: true });
  const place = findHook(program, source, order, namesIn(parsed));
  if (!place) return null;
  const names = order.isCompiled ? renamedAt(program, place.node) : new Map();
  const [expression, when] = [order.expression, order.when].map((one) => renameIn(acorn, one, names));
  const hook = hookText({ expression, when });
  const renamed = new Map([...names].map(([original, { name }]) => [name, original]));
  let text = source;
  for (const node of order.is_thrown ? laterOnLine(program, place, order.line).reverse() : []) {
    text = `${text.slice(0, node.start)};${hook};${text.slice(node.start)}`;
  }
  return { text: textWith(hook, text, place), hook, renamed };
}

// The further statements of a line, in blocks: any of them may be the one that fails.
function laterOnLine(program, { node, kind, isInBlock }, line) {
  const found = [];
  const walk = (at) => {
    if (line < at.loc.start.line || at.loc.end.line < line) return;
    for (const one of [at.body, at.consequent].filter(Array.isArray).flat()) {
      const isStatement = /Statement$|VariableDeclaration$/.test(one.type) && !one.directive;
      if (isStatement && one.start > node.start && one.loc.start.line === line) found.push(one);
    }
    for (const one of childrenOf(at)) walk(one);
  };
  if (kind === 'statement' && isInBlock) walk(program);
  return found.sort((one, other) => one.start - other.start);
}

function textWith(call, source, place) {
  const { node, kind } = place;
  const body = kind === 'function' ? node.body : node;
  if (kind === 'function' && body.type === 'BlockStatement') {
    const directive = body.body.filter((one) => one.directive).at(-1);
    const at = directive?.end ?? body.start + 1;
    return `${source.slice(0, at)};${call};${source.slice(at)}`;
  }
  const parts = [source.slice(0, body.start), source.slice(body.start, body.end), source.slice(body.end)];
  if (kind !== 'statement') return `${parts[0]}(${call},${parts[1]})${parts[2]}`;
  if (place.isInBlock) return `${parts[0]}${call};${parts[1]}${parts[2]}`;
  return `${parts[0]}{${call};${parts[1]}}${parts[2]}`;
}

module.exports = { HOOK, hookText, insertHook };
