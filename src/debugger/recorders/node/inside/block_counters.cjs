// Rewrites a script so that it counts its functions and the blocks within them, with V8's own ranges
// of blocks (`Profiler.takePreciseCoverage`). Text is only inserted, and no line is moved.
//
// A counter is an element of a typed array, of whole numbers of 32 bits: code that is not optimized
// would make an object of each larger one. Within a loop it is a local variable, which is added to an
// element at the loop's end: V8 keeps it in a register, and an element would cost as much as a short
// round of the loop. A loop that waits (`await`, `yield`) counts in the array.
'use strict';
const { FUNCTIONS } = require('./origin_scopes.cjs');

const PREFIX = '__dbgN'; // of all names that are inserted
// What is inserted lies between these, so that `toString` of a function can leave it out.
const [OPEN, CLOSE] = ['/*{__dbg*/', '/*__dbg}*/'];
const INSERTED = /\/\*\{__dbg\*\/[^]*?\/\*__dbg\}\*\//g;

const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement']);
const JUMPS = new Set(['ReturnStatement', 'ThrowStatement', 'BreakStatement', 'ContinueStatement']);
const CALLS = new Set(['CallExpression', 'NewExpression', 'TaggedTemplateExpression', 'ImportExpression']);
const SIMPLE = new Set(['ExpressionStatement', 'VariableDeclaration', 'ClassDeclaration']);
const CLASSES = new Set(['ClassDeclaration', 'ClassExpression']);
const LEAVES = new Set([
  'Identifier', 'PrivateIdentifier', 'Literal', 'ThisExpression', 'Super', 'EmptyStatement', 'DebuggerStatement',
  'TemplateElement', 'MetaProperty',
]);
const NONE = [];

// What a node has within, without the functions in it: bits of `node.has`.
const [RETURN, BREAK, CONTINUE, WAIT, CALL] = [1, 2, 4, 8, 16];
const JUMP = RETURN | BREAK | CONTINUE;

function ownBits(node) {
  switch (node.type) {
    case 'ReturnStatement': case 'ThrowStatement': return RETURN;
    case 'BreakStatement': return node.label ? RETURN : BREAK;
    case 'ContinueStatement': return node.label ? RETURN : CONTINUE;
    case 'AwaitExpression': case 'YieldExpression': return WAIT;
    case 'ForOfStatement': return node.await ? WAIT : 0;
    default: return CALLS.has(node.type) ? CALL : 0;
  }
}

// Finds the children of each node, and what each has within. Returns what `node` has.
function scan(node) {
  // Most nodes have nothing within.
  if (LEAVES.has(node.type)) {
    node.children = NONE;
    node.has = 0;
    return 0;
  }
  const children = [];
  let has = ownBits(node);
  for (const key in node) {
    const value = node[key];
    if (typeof value !== 'object' || value === null) continue;
    if (typeof value.type === 'string') {
      children.push(value);
      has |= scan(value);
    } else if (Array.isArray(value)) {
      for (const one of value) {
        if (!one) continue;
        children.push(one);
        has |= scan(one);
      }
    }
  }
  node.children = children;
  if (LOOPS.has(node.type)) has &= ~(BREAK | CONTINUE);
  else if (node.type === 'SwitchStatement') has &= ~BREAK;
  node.has = FUNCTIONS.has(node.type) ? 0 : has;
  return node.has;
}

// Tells whether what follows a statement may run less often than the statement itself.
function mayLeave(statement) {
  const isSimple = SIMPLE.has(statement.type) || /^(Import|Export)/.test(statement.type);
  return Boolean(statement.has & (isSimple ? JUMP | WAIT : JUMP | WAIT | CALL));
}

// Tells whether a branch always leaves what it is in.
function alwaysLeaves(branch) {
  const last = branch.type === 'BlockStatement' ? branch.body.at(-1) : branch;
  return Boolean(last) && JUMPS.has(last.type);
}

function unwrapped(node) {
  let inner = node;
  while (inner?.type === 'ParenthesizedExpression') inner = inner.expression;
  return inner;
}

const isAnonymous = (node) => {
  const inner = unwrapped(node);
  return Boolean(inner) && (FUNCTIONS.has(inner.type) || CLASSES.has(inner.type)) && !inner.id;
};

function loopOf(statement) {
  let inner = statement;
  while (inner.type === 'LabeledStatement') inner = inner.body;
  return LOOPS.has(inner.type) ? inner : null;
}

class CounterWriter {
  constructor(source, number) {
    this.source = source;
    this.name = `${PREFIX}${number}`;
    this.functions = []; // {name, start, end, cell, blocks: [{start, end, cell}]}
    this.cells = 0;
    this.opens = new Map();
    this.closes = new Map();
    this.fn = null; // the function that the walk is in
    this.block = null; // the block of what the walk is at; null where that does not always run
    this.isExact = true; // nothing may have thrown since the block was counted
    this.statement = null; // the statement of the block that the walk is in
    this.loop = null; // the cells that are local to the loop that the walk is in
  }

  insert(table, at, text) {
    const list = table.get(at);
    if (list) list.push(text);
    else table.set(at, [text]);
  }

  addCell() {
    this.loop?.push(this.cells);
    return this.cells++;
  }

  count(cell) {
    return this.loop ? `${this.name}_${cell}++` : `${this.name}[${cell}]++`;
  }

  addBlock(start, end) {
    const block = { start, end, cell: this.addCell() };
    this.fn.blocks.push(block);
    return block;
  }

  // A block that needs no counter: it ran as often as another one, but for the times of some.
  addRest(start, end, block, less) {
    const rest = { start, end, cell: -1, block, less };
    this.fn.blocks.push(rest);
    return rest;
  }

  countOf(block) {
    return block.cell < 0 ? '' : this.count(block.cell);
  }

  // Visits what another block is around, or none that is known.
  within(block, visit, statement = null) {
    const { block: before, isExact, statement: outer } = this;
    Object.assign(this, { block, statement, isExact: true });
    visit();
    Object.assign(this, { block: before, statement: outer, isExact });
  }

  visitUnsure(nodes, parent) {
    this.within(null, () => {
      for (const one of nodes) if (one) this.visit(one, parent);
    });
  }

  // A text may be a function that is called when all is known.
  text() {
    const places = [...new Set([...this.opens.keys(), ...this.closes.keys()])].sort((a, b) => a - b);
    const parts = [];
    let last = 0;
    for (const at of places) {
      const made = [...(this.closes.get(at) ?? []), ...(this.opens.get(at) ?? [])]
        .map((one) => (typeof one === 'string' ? one : one())).join('');
      parts.push(this.source.slice(last, at), made && `${OPEN}${made}${CLOSE}`);
      last = at;
    }
    parts.push(this.source.slice(last));
    return parts.join('');
  }

  // The offset of a token between two nodes: only comments and spaces are there besides.
  find(token, from) {
    let at = from;
    while (!this.source.startsWith(token, at)) {
      if (at >= this.source.length) return from;
      if (this.source.startsWith('//', at)) at = this.source.indexOf('\n', at);
      else if (this.source.startsWith('/*', at)) at = this.source.indexOf('*/', at) + 2;
      else at += 1;
      if (at < 2) return from;
    }
    return at;
  }

  visitProgram(program) {
    this.inFunction('', 0, this.source.length, () => {
      this.visitBody(program.body, 0, this.source.length);
    });
  }

  inFunction(name, start, end, visit) {
    const [fn, loop] = [this.fn, this.loop];
    this.loop = null;
    this.fn = { name, start, end, cell: this.addCell(), blocks: [] };
    this.functions.push(this.fn);
    this.within(this.fn, visit);
    [this.fn, this.loop] = [fn, loop];
  }

  // The statements of a function: its directives stay the first.
  visitBody(body, start, end) {
    const directives = body.filter((one) => one.directive);
    const rest = body.slice(directives.length);
    const at = directives.at(-1)?.end ?? (rest[0]?.start ?? start);
    const place = rest.length || directives.length || start > 0 ? at : -1;
    if (place >= 0) this.insert(this.opens, place, `;${this.count(this.fn.cell)};`);
    this.visitList(rest, end - 1);
  }

  visitList(statements, end) {
    const { block: before, isExact, statement } = this;
    let count = '';
    for (const one of statements) {
      this.statement = one;
      if (count) this.insert(this.opens, one.start, `;${count};`);
      count = '';
      this.visit(one, null);
      if (one !== statements.at(-1) && mayLeave(one)) {
        const block = this.addFollowing(one, end);
        count = this.countOf(block);
        this.block = block;
        this.isExact ||= Boolean(count);
      } else if (one.has & (CALL | WAIT)) this.isExact = false;
    }
    Object.assign(this, { block: before, isExact, statement });
  }

  // Tells whether an expression or a statement is reached as often as its block, and has no call.
  isSure(node) {
    return this.block && this.isExact && !(node.has & (CALL | WAIT));
  }

  // What follows an `if` whose branches do nothing or leave is counted by these.
  addFollowing(statement, end) {
    const { test, consequent, alternate, branches } = statement;
    const isKnown = branches && this.isSure(test) &&
      [consequent, alternate].every((one) => !one || alwaysLeaves(one) || !one.has);
    if (!isKnown) return this.addBlock(statement.end, end);
    const less = branches.filter((one, at) => alwaysLeaves(at ? alternate : consequent));
    return this.addRest(statement.end, end, this.block, less);
  }

  visit(node, parent) {
    node.parent = parent;
    if (!this.loop && loopOf(node) && !(node.has & WAIT)) {
      this.visitOuterLoop(node, parent);
      return;
    }
    const method = this[node.type];
    if (method) method.call(this, node, parent);
    else if (FUNCTIONS.has(node.type)) this.visitFunction(node, node, nameOf(node, parent));
    else this.visitChildren(node);
  }

  visitChildren(node) {
    for (const one of node.children) this.visit(one, node);
  }

  visitOuterLoop(node, parent) {
    const cells = [];
    this.insert(this.opens, node.start, () => {
      const names = cells.map((one) => `${this.name}_${one}=0`);
      return `{let ${names.join(',')};try{`;
    });
    this.loop = cells;
    this.visit(node, parent);
    this.loop = null;
    const sums = cells.map((one) => `${this.name}s[${one}]+=${this.name}_${one};`);
    this.insert(this.closes, node.end, `}finally{${sums.join('')}}}`);
  }

  visitFunction(node, whole, name) {
    this.inFunction(name, whole.static ? this.keyStart(whole) : whole.start, whole.end, () => {
      for (const one of node.params) this.visit(one, node);
      const { body } = node;
      if (body.type === 'BlockStatement') this.visitBody(body.body, body.start + 1, body.end);
      else {
        this.statement = body;
        this.wrap(body, node, this.count(this.fn.cell));
      }
    });
  }

  // The offset behind `static` and the space that follows it.
  keyStart(method) {
    let at = this.find('static', method.start) + 'static'.length;
    while (/\s/.test(this.source[at])) at += 1;
    return at;
  }

  // An expression behind its counter, if it has one.
  wrap(node, parent, count) {
    if (count) this.insert(this.opens, node.start, `(${count},`);
    this.visit(node, parent);
    if (count) this.insert(this.closes, node.end, ')');
  }

  wrapBlock(node, parent, block) {
    this.within(block, () => this.wrap(node, parent, this.countOf(block)), this.statement);
  }

  // A statement behind its counter, if it has one.
  visitBranch(node, block) {
    const count = this.countOf(block);
    this.within(block, () => {
      this.statement = node;
      if (node.type === 'BlockStatement') {
        if (count) this.insert(this.opens, node.start + 1, `${count};`);
        this.visitList(node.body, node.end);
        return;
      }
      this.insert(this.opens, node.start, `{${count};`);
      this.visit(node, null);
      this.insert(this.closes, node.end, '}');
    });
  }

  BlockStatement(node) {
    this.visitList(node.body, node.end);
  }

  IfStatement(node) {
    const { test, consequent, alternate } = node;
    this.visit(test, node);
    const block = this.addBlock(consequent.start, consequent.end);
    node.branches = [block];
    this.visitBranch(consequent, block);
    if (!alternate) return;
    const other = this.addOther(test, consequent.end, alternate.end, block);
    node.branches.push(other);
    this.visitBranch(alternate, other);
  }

  // The other branch of a condition: a call may throw, and then there is neither.
  addOther(condition, start, end, block) {
    return condition && this.isSure(condition) ? this.addRest(start, end, this.block, [block]) : this.addBlock(start, end);
  }

  visitLoop(node) {
    this.visitUnsure([node.init, node.left, node.right, node.test, node.update], node);
    this.visitBranch(node.body, this.addBlock(node.body.start, node.body.end));
  }

  SwitchStatement(node) {
    this.visit(node.discriminant, node);
    for (const one of node.cases) {
      this.visitUnsure([one.test], one);
      const colon = this.find(':', one.test ? one.test.end : one.start);
      const block = this.addBlock(one.start, one.end);
      this.insert(this.opens, colon + 1, `${this.countOf(block)};`);
      this.within(block, () => this.visitList(one.consequent, one.end));
    }
  }

  TryStatement(node) {
    const { handler, finalizer } = node;
    const lastly = finalizer && this.find('finally', (handler ?? node.block).end);
    this.visitList(node.block.body, handler?.start ?? lastly);
    if (handler) {
      if (handler.param) this.visit(handler.param, handler);
      this.visitBranch(handler.body, this.addBlock(handler.start, handler.end));
    }
    if (finalizer) this.visitBranch(finalizer, this.addBlock(lastly, finalizer.end));
  }

  ConditionalExpression(node) {
    const { test, consequent, alternate } = node;
    this.visit(test, node);
    const [question, colon] = [this.find('?', test.end), this.find(':', consequent.end)];
    const block = this.addBlock(question, consequent.end);
    this.wrapBlock(consequent, node, block);
    // Of the statement a call before the condition may throw, too.
    this.wrapBlock(alternate, node, this.addOther(this.statement, colon, alternate.end, block));
  }

  // The default of a parameter or of a part of a pattern.
  AssignmentPattern(node) {
    this.visit(node.left, node);
    this.visitUnsure([node.right], node);
  }

  AssignmentExpression(node) {
    this.visit(node.left, node);
    if (/^(\|\||&&|\?\?)=$/.test(node.operator)) this.visitUnsure([node.right], node);
    else this.visit(node.right, node);
  }

  ChainExpression(node) {
    this.visitUnsure(node.children, node);
  }

  LogicalExpression(node) {
    this.visit(node.left, node);
    const start = this.find(node.operator, node.left.end);
    this.wrapBlock(node.right, node, this.addBlock(start, node.right.end));
  }

  MethodDefinition(node) {
    this.visitMethod(node);
  }

  Property(node) {
    if (node.method || node.kind !== 'init') this.visitMethod(node);
    else this.visitChildren(node);
  }

  visitMethod(node) {
    if (node.computed) this.visit(node.key, node);
    const kind = node.kind === 'get' || node.kind === 'set' ? `${node.kind} ` : '';
    const isConstructor = node.kind === 'constructor';
    this.visitFunction(node.value, node, isConstructor ? node.className : kind + keyText(node));
  }

  visitClass(node, parent) {
    const name = node.id?.name ?? nameOf(node, parent);
    if (node.superClass) this.visit(node.superClass, node);
    const { body } = node.body;
    this.countFields(body.filter((one) => one.type === 'PropertyDefinition' && !one.static), '<instance_members_initializer>');
    this.countFields(body.filter((one) => one.type === 'StaticBlock' || (one.type === 'PropertyDefinition' && one.static)), '<static_initializer>');
    for (const one of body) {
      one.className = name;
      if (one.type === 'MethodDefinition') this.visitMethod(one);
      else if (one.type === 'PropertyDefinition' && one.computed) this.visit(one.key, one);
    }
  }

  // The fields of a class are a function of their own; its counter is at one that has room for it.
  countFields(fields, name) {
    if (!fields.length) return;
    const chosen = fields.find((one) => !isAnonymous(one.value)) ?? fields[0];
    this.inFunction(name, fields[0].start, fields.at(-1).end, () => {
      for (const one of fields) {
        const count = one === chosen ? this.count(this.fn.cell) : '';
        if (one.type === 'StaticBlock') this.visitStaticBlock(one, count);
        else this.visitField(one, count);
      }
    });
  }

  visitStaticBlock(node, count) {
    if (count) this.insert(this.opens, this.find('{', node.start) + 1, `${count};`);
    this.visitList(node.body, node.end);
  }

  visitField(node, count) {
    const { value } = node;
    if (!count) {
      if (value) this.visit(value, node);
    } else if (!value) {
      this.insert(this.closes, this.keyEnd(node), `=void ${count}`);
    } else if (!isAnonymous(value) || node.computed) {
      this.wrap(value, node, count);
    } else {
      // An anonymous function is named after its field.
      const key = JSON.stringify(keyText(node));
      this.insert(this.opens, value.start, `(${count},{[${key}]:`);
      this.visit(value, node);
      this.insert(this.closes, value.end, `}[${key}])`);
    }
  }

  keyEnd(node) {
    return node.computed ? this.find(']', node.key.end) + 1 : node.key.end;
  }

  ClassDeclaration(node, parent) {
    this.visitClass(node, parent);
  }

  ClassExpression(node, parent) {
    this.visitClass(node, parent);
  }
}

for (const one of LOOPS) CounterWriter.prototype[one] = CounterWriter.prototype.visitLoop;

function keyText({ key, computed }) {
  if (computed) return '';
  return (key.type === 'PrivateIdentifier' ? '#' : '') + String(key.name ?? key.value);
}

// The name of a function: its own, or what V8 takes from the place it is assigned to.
function nameOf(node, parent) {
  if (node.id) return node.id.name;
  switch (parent?.type) {
    case 'VariableDeclarator': return parent.id.name ?? '';
    case 'AssignmentExpression': return node === parent.right ? targetText(parent.left) : '';
    case 'AssignmentPattern': return parent.left.name ?? '';
    case 'Property': case 'PropertyDefinition': return node === parent.value ? keyText(parent) : '';
    case 'ExportDefaultDeclaration': return 'default';
    case 'ParenthesizedExpression': case 'LogicalExpression': return nameOf(parent, parent.parent);
    case 'ConditionalExpression': return node === parent.test ? '' : nameOf(parent, parent.parent);
    default: return '';
  }
}

function targetText(node) {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression') return '';
  const owner = targetText(node.object);
  const name = node.computed ? '<computed>' : keyText({ key: node.property });
  if (name === 'prototype') return owner;
  return owner ? `${owner}.${name}` : name;
}

// Rewrites one script; `number` is that of the array of its counters.
function countBlocks(acorn, source, isModule, number) {
  const program = acorn.parse(source, {
    ecmaVersion: 'latest', sourceType: isModule ? 'module' : 'script', preserveParens: true,
    allowHashBang: true, allowReturnOutsideFunction: !isModule, allowAwaitOutsideFunction: isModule,
    allowSuperOutsideMethod: true,
  });
  scan(program);
  const writer = new CounterWriter(source, number);
  writer.visitProgram(program);
  return { code: writer.text(), name: writer.name, functions: writer.functions, cells: writer.cells };
}

function timesOf(block, counts) {
  if (block.cell >= 0) return counts[block.cell];
  block.times ??= Math.max(block.less.reduce((sum, one) => sum - timesOf(one, counts), timesOf(block.block, counts)), 0);
  return block.times;
}

// Returns a function's ranges in V8's form: a block that ran as often as what is around it is left out.
function rangesOf(fn, counts) {
  const whole = { start: fn.start, end: fn.end, count: counts[fn.cell] };
  const blocks = fn.blocks
    .map((one) => ({ start: one.start, end: one.end, count: timesOf(one, counts) }))
    .filter(({ start, end }) => start < end)
    .sort((one, other) => one.start - other.start || other.end - one.end);
  const ranges = [whole];
  const around = [whole];
  const last = []; // of each depth the range before
  for (const one of blocks) {
    while (around.at(-1).end <= one.start) around.pop();
    const depth = around.length;
    const before = last[depth];
    if (before && before.end === one.start && before.count === one.count) {
      before.end = one.end;
      around.push(before);
    } else if (one.count !== around.at(-1).count) {
      ranges.push(one);
      around.push(one);
      last.length = depth;
      last[depth] = one;
    }
  }
  return ranges.map(({ start, end, count }) => ({ startOffset: start, endOffset: end, count }));
}

module.exports = { INSERTED, OPEN, PREFIX, countBlocks, rangesOf };
