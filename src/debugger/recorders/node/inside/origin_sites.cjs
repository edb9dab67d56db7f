// Rewrites a script so that it reports its writes, calls and results to `__dbg` (origin_trace.cjs).
// Text is only inserted, never moved to another line: the lines of stack traces stay right.
'use strict';
const { HOOK, insertHook } = require('./origin_hook.cjs');
const { findPattern } = require('./origin_patterns.cjs');
const { BYTE_WRITERS } = require('./origin_ranges.cjs');
const {
  FUNCTIONS, Scope, childrenOf, declareBlock, declareVars, targetsOf,
} = require('./origin_scopes.cjs');

const MUTATORS = new Set([
  'push', 'unshift', 'splice', 'pop', 'shift', 'sort', 'reverse', 'fill', 'copyWithin', 'set',
  ...BYTE_WRITERS, 'add', 'delete', 'clear', 'assign', 'defineProperty', 'defineProperties', 'Proxy',
  'runInContext', 'runInNewContext', 'runInThisContext',
  'setTime', 'setFullYear', 'setMonth', 'setDate', 'setHours', 'setMinutes', 'setSeconds', 'setMilliseconds',
  'setUTCFullYear', 'setUTCMonth', 'setUTCDate', 'setUTCHours', 'setUTCMinutes', 'setUTCSeconds',
]);

class Writer {
  constructor(source, file, sites, base, renamed = new Map()) {
    this.renamed = renamed; // the names in the question of what the source calls otherwise
    this.source = source;
    this.file = file;
    this.sites = sites;
    this.next = base;
    this.opens = new Map();
    this.closes = new Map();
  }

  open(at, text) {
    this.opens.set(at, (this.opens.get(at) ?? '') + text);
  }

  openFirst(at, text) {
    this.opens.set(at, text + (this.opens.get(at) ?? ''));
  }

  close(at, text) {
    this.closes.set(at, (this.closes.get(at) ?? '') + text);
  }

  addSite(node, fn, more) {
    const number = this.next++;
    const site = { number, node, fn, file: this.file, source: this.source, ...more };
    this.sites.set(number, site);
    node.site = site;
    return number;
  }

  text() {
    const places = [...new Set([...this.opens.keys(), ...this.closes.keys()])].sort((a, b) => a - b);
    const parts = [];
    let last = 0;
    for (const at of places) {
      parts.push(this.source.slice(last, at), this.closes.get(at) ?? '', this.opens.get(at) ?? '');
      last = at;
    }
    parts.push(this.source.slice(last));
    return parts.join('');
  }
}

const shownName = (node) => node?.original ?? node?.name;

// The properties that a pattern writes, each with the keys that lead to its value.
function membersOf(pattern, path = []) {
  switch (pattern?.type) {
    case 'MemberExpression': return path.length ? [{ node: pattern, path }] : [];
    case 'ArrayPattern': return pattern.elements.flatMap((one, at) => membersOf(one, [...path, String(at)]));
    case 'ObjectPattern': return pattern.properties.flatMap((one) =>
      one.computed ? [] : membersOf(one.value, [...path, String(one.key?.name ?? one.key?.value)]));
    default: return [];
  }
}

// The part of a literal that a pattern takes; the whole if it is no literal.
function partOf(node, [key, ...rest]) {
  const isPlain = node.type === 'ArrayExpression' && node.elements.every((one) => one && one.type !== 'SpreadElement');
  return isPlain && !rest.length && node.elements[key] ? node.elements[key] : node;
}

const isNamed = (node) =>
  node && (FUNCTIONS.has(node.type) || (node.type === 'ClassExpression' && !node.id));

class Rewriter {
  constructor(writer) {
    this.writer = writer;
    this.source = writer.source;
  }

  // The program itself is a function of depth 0.
  rewriteProgram(program, isModule) {
    if (program.body.every((one) => one.directive)) return;
    const fn = { depth: 0, node: program, name: '<module>', shown: '<module>', count: 0, parent: null };
    const scope = new Scope(null, fn);
    declareVars(program, scope);
    declareBlock(program.body, scope);
    const number = this.writer.addSite(program, fn, { scope, isModule });
    const at = this.bodyStart(program.body, this.source.startsWith('#!') ? this.source.indexOf('\n') : 0);
    this.writer.open(at, `;const __a0=__dbg.i(${number},null,undefined,[]);`);
    for (const one of program.body) this.visit(one, scope);
    this.writer.close(program.end, '\n;__dbg.x(__a0);');
  }

  bodyStart(body, start) {
    let at = start;
    for (const one of body) {
      if (!one.directive) break;
      at = one.end;
    }
    return at;
  }

  visit(node, scope) {
    node.scope = scope;
    const method = this[node.type];
    if (method) method.call(this, node, scope);
    else this.visitChildren(node, scope);
  }

  visitChildren(node, scope) {
    for (const one of childrenOf(node)) {
      if (!one.parent) one.parent = node;
      this.visit(one, scope);
    }
  }

  // Of a loop's variables a function has those of the round that made it.
  Identifier(node, scope) {
    const binding = scope.find(node.name);
    if (!binding?.isRepeated) return;
    for (let at = scope.fn; at && at !== binding.fn; at = at.parent) {
      const isAfter = at.node.type !== 'FunctionDeclaration' && at.node.start >= binding.node.end;
      if (isAfter && !at.captured.includes(binding)) at.captured.push(binding);
    }
  }

  // An expression, with text around it.
  wrap(node, scope, before, after) {
    // Of `(a, b)` the node is without its brackets.
    const isList = node.type === 'SequenceExpression';
    this.writer.open(node.start, before + (isList ? '(' : ''));
    this.visit(node, scope);
    this.writer.close(node.end, (isList ? ')' : '') + after);
  }

  act(scope) {
    return scope.fn.actText ?? `__a${scope.fn.depth}`;
  }

  rewriteFunction(node, scope, name) {
    const fn = {
      depth: scope.fn.depth + 1, node, name: node.id?.name ?? name ?? '<anonymous>', count: 0,
      shown: shownName(node.id) ?? node.shownName ?? name ?? '<anonymous>',
      parent: scope.fn, params: [], isAsync: node.async, isGenerator: node.generator,
      isSetter: Boolean(node.isSetter), captured: [],
    };
    const inner = new Scope(scope, fn);
    if (node.id && node.type === 'FunctionExpression') inner.declare(node.id.name, 'function', node);
    node.params.forEach((param, at) => {
      for (const target of targetsOf(param)) {
        const binding = inner.declare(target.node.name, 'param', param);
        binding.param = { position: at, slot: fn.params.length, ...target };
        fn.params.push(binding);
      }
    });
    // A default runs before the function's own first statement, as a part of its surroundings.
    const outside = new Scope(inner, scope.fn);
    for (const param of node.params) this.visitPattern(param, outside);
    const number = this.writer.addSite(node, fn, { scope: inner });
    const hasThis = node.type !== 'ArrowFunctionExpression' && !node.isDerived;
    const names = fn.params.map((one) => one.name).join(',');
    // The body tells what it has of loops around it.
    const entry = () => `const __a${fn.depth}=__dbg.i(${number},${this.act(scope)},` +
      `${hasThis ? 'this' : 'undefined'},[${names}]` +
      `${fn.captured.length ? `,[${fn.captured.map((one) => one.name).join(',')}]` : ''});`;
    if (node.body.type === 'BlockStatement') this.rewriteBody(node.body, inner, entry);
    else this.rewriteArrow(node, inner, entry);
  }

  rewriteBody(body, scope, entry) {
    body.scope = scope;
    declareVars(body, scope);
    declareBlock(body.body, scope);
    // Two declarations of one name are an error in a block, and none in a function.
    const isPlain = body.body.some((one) => one.type === 'FunctionDeclaration');
    const begin = this.bodyStart(body.body, body.start + 1);
    const leave = `__dbg.x(${this.act(scope)});`;
    if (begin === body.end - 1) {
      this.writer.open(begin, `;${entry()}${leave}`);
      return;
    }
    for (const one of body.body) {
      one.parent = body;
      this.visit(one, scope);
    }
    this.writer.openFirst(begin, `;${entry()}${isPlain ? '' : 'try{'}`);
    this.writer.close(body.end - 1, isPlain ? `;${leave}` : `}finally{${leave}}`);
  }

  rewriteArrow(node, scope, entry) {
    const from = node.params.length ? node.params.at(-1).end : node.start;
    const arrow = from + this.source.slice(from, node.body.start).lastIndexOf('=>') + 2;
    const number = this.writer.addSite({ type: 'ReturnStatement', argument: node.body, start: node.body.start,
      end: node.body.end, loc: node.body.loc, code: node.code }, scope.fn, { scope });
    const act = this.act(scope);
    node.body.parent = node;
    this.visit(node.body, scope);
    this.writer.openFirst(arrow, `{${entry()}try{return __dbg.q(${act},${number},`);
    this.writer.close(node.end, `)}finally{__dbg.x(${act})}}`);
  }

  FunctionDeclaration(node, scope) {
    this.rewriteFunction(node, scope);
  }

  FunctionExpression(node, scope) {
    this.rewriteFunction(node, scope, node.givenName);
  }

  ArrowFunctionExpression(node, scope) {
    this.rewriteFunction(node, scope, node.givenName);
  }

  visitClass(node, scope) {
    const inner = new Scope(scope, scope.fn);
    if (node.id) inner.declare(node.id.name, 'class', node);
    const own = node.type === 'ClassDeclaration' && node.id ? scope.find(node.id.name) : null;
    if (own) {
      const act = this.act(scope);
      const indices = [own, inner.find(node.id.name)].map((one) => `__dbg.cl(${act},${one.index},this);`);
      this.writer.open(node.body.start + 1, `static{${indices.join('')}}`);
    }
    if (node.superClass) this.visit(node.superClass, scope);
    for (const one of node.body.body) {
      if (one.key && one.computed) this.visit(one.key, scope);
      if (one.type === 'MethodDefinition') {
        const owner = node.id?.name ?? node.givenName;
        const key = this.keyText(one);
        const shown = shownName(node.id) ?? node.shownName ?? owner;
        one.value.givenName = owner ? `${owner}.${key}` : key;
        one.value.shownName = shown ? `${shown}.${key}` : key;
        one.value.isSetter = one.kind === 'set';
        one.value.isDerived = one.kind === 'constructor' && Boolean(node.superClass);
        this.visit(one.value, inner);
      } else if (one.type === 'PropertyDefinition' && one.value) {
        this.visitField(one, inner);
      } else if (one.type === 'StaticBlock') this.visitBlock(one, inner);
    }
  }

  visitField(node, scope) {
    if (isNamed(node.value) || node.computed) {
      this.visit(node.value, scope);
      return;
    }
    const number = this.writer.addSite(node, scope.fn, { scope, rhs: node.value, key: this.keyText(node) });
    this.wrap(node.value, scope, ` __dbg.f(${this.act(scope)},${number},this,`, ')');
  }

  ClassDeclaration(node, scope) {
    this.visitClass(node, scope);
  }

  ClassExpression(node, scope) {
    this.visitClass(node, scope);
  }

  keyText(node) {
    const { key } = node;
    if (node.computed) return this.source.slice(key.start, key.end);
    return (key.type === 'PrivateIdentifier' ? '#' : '') + String(key.name ?? key.value);
  }

  visitBlock(node, scope) {
    const inner = new Scope(scope, scope.fn);
    declareBlock(node.body, inner);
    this.visitChildren(node, inner);
  }

  BlockStatement(node, scope) {
    this.visitBlock(node, scope);
  }

  SwitchStatement(node, scope) {
    const inner = new Scope(scope, scope.fn);
    for (const one of node.cases) declareBlock(one.consequent, inner);
    this.visitChildren(node, inner);
  }

  CatchClause(node, scope) {
    const inner = new Scope(scope, scope.fn);
    for (const target of targetsOf(node.param)) inner.declare(target.node.name, 'catch', node);
    this.writer.open(node.body.start + 1, ` __dbg.c(${this.act(scope)});`);
    this.visit(node.body, inner);
  }

  ForStatement(node, scope) {
    const inner = this.repeatedScope(scope);
    if (node.init?.type === 'VariableDeclaration') declareBlock([node.init], inner);
    this.visitChildren(node, inner);
  }

  repeatedScope(scope) {
    const inner = new Scope(scope, scope.fn);
    inner.isRepeated = true;
    return inner;
  }

  WhileStatement(node, scope) {
    this.visitChildren(node, this.repeatedScope(scope));
  }

  DoWhileStatement(node, scope) {
    this.visitChildren(node, this.repeatedScope(scope));
  }

  visitLoop(node, scope) {
    const inner = this.repeatedScope(scope);
    const isNew = node.left.type === 'VariableDeclaration';
    if (isNew) declareBlock([node.left], inner);
    else this.visitPattern(node.left, scope);
    const pattern = isNew ? node.left.declarations[0].id : node.left;
    if (isNew) this.visitPattern(pattern, inner);
    const targets = this.resolveTargets(pattern, inner);
    const number = this.writer.addSite(node, scope.fn, { scope: inner, targets, loop: node.type });
    const act = this.act(scope);
    this.wrap(node.right, scope, ` __dbg.l(${act},${number},`, ')');
    const names = targets.map((one) => one.binding.name).join(',');
    const isBlock = node.body.type === 'BlockStatement';
    this.writer.open(node.body.start + isBlock, `${isBlock ? '' : '{'}__dbg.y(${act},${number},[${names}]);`);
    node.body.parent = node;
    this.visit(node.body, inner);
    if (!isBlock) this.writer.close(node.body.end, '}');
  }

  ForOfStatement(node, scope) {
    this.visitLoop(node, scope);
  }

  ForInStatement(node, scope) {
    this.visitLoop(node, scope);
  }

  resolveTargets(pattern, scope) {
    return targetsOf(pattern).flatMap((one) => {
      const binding = scope.find(one.node.name);
      return binding ? [{ ...one, binding, up: scope.fn.depth - binding.depth }] : [];
    });
  }

  // Only the expressions of a pattern are rewritten: defaults and computed keys.
  visitPattern(pattern, scope) {
    if (!pattern || pattern.type === 'Identifier') return;
    if (pattern.type === 'AssignmentPattern') {
      this.visitPattern(pattern.left, scope);
      this.visit(pattern.right, scope);
    } else if (pattern.type === 'RestElement') this.visitPattern(pattern.argument, scope);
    else if (pattern.type === 'ArrayPattern') {
      for (const one of pattern.elements) this.visitPattern(one, scope);
    } else if (pattern.type === 'ObjectPattern') {
      for (const one of pattern.properties) {
        if (one.computed) this.visit(one.key, scope);
        this.visitPattern(one.value ?? one.argument, scope);
      }
    } else if (pattern.type === 'MemberExpression') this.visitChildren(pattern, scope);
  }

  VariableDeclarator(node, scope) {
    this.visitPattern(node.id, scope);
    if (!node.init) return;
    const targets = this.resolveTargets(node.id, scope);
    if (isNamed(node.init) && node.id.type === 'Identifier') Object.assign(node.init, { givenName: node.id.name, shownName: shownName(node.id) });
    if (isNamed(node.init) || !targets.length) {
      this.visit(node.init, scope);
      return;
    }
    const number = this.writer.addSite(node, scope.fn, { scope, targets, rhs: node.init });
    node.init.parent = node;
    this.wrap(node.init, scope, ` __dbg.a(${this.act(scope)},${number},`, ')');
  }

  AssignmentExpression(node, scope) {
    node.right.parent = node;
    if (node.left.type === 'MemberExpression') {
      this.visitStore(node, node.left, scope);
      return;
    }
    const targets = this.resolveTargets(node.left, scope);
    node.left.scope = scope;
    const members = this.openMembers(node, scope);
    this.visitPattern(node.left, scope);
    if (isNamed(node.right)) Object.assign(node.right, { givenName: node.left.name, shownName: shownName(node.left) });
    if (targets.length) {
      const number = this.writer.addSite(node, scope.fn, { scope, targets, rhs: node.right });
      this.writer.open(node.start, ` __dbg.a(${this.act(scope)},${number},`);
    }
    const isPattern = targets.length && /Pattern$/.test(node.left.type);
    if (isPattern) this.wrap(node.right, scope, ` __dbg.t(${this.act(scope)},${node.site.number},`, ')');
    else this.visit(node.right, scope);
    if (targets.length) this.writer.close(node.end, ')');
    if (members) this.writer.close(node.end, members);
  }

  // `[a[i], a[j]] = [a[j], a[i]]` writes properties; those are reported that can be named once more.
  openMembers(node, scope) {
    // What the pattern itself writes has another value afterwards.
    const written = new Set(targetsOf(node.left).map((one) => one.node.name));
    const isPlain = (one) => /^(Identifier|ThisExpression|Literal)$/.test(one.type) && !written.has(one.name);
    const members = membersOf(node.left).filter(({ node: one }) => isPlain(one.object) && isPlain(one.property));
    if (!members.length) return '';
    const numbers = members.map(({ node: one, path }) =>
      this.writer.addSite(node, scope.fn, { scope, rhs: partOf(node.right, path), target: one }));
    const texts = members.map(({ node: { object, property, computed } }) => {
      const [owner, key] = [object, property].map((one) => this.source.slice(one.start, one.end));
      return `[${owner},${computed ? key : JSON.stringify(key)}]`;
    });
    this.writer.open(node.start, ` __dbg.m(${this.act(scope)},${numbers[0]},`);
    return `,[${texts.join(',')}])`;
  }

  UpdateExpression(node, scope) {
    if (node.argument.type === 'MemberExpression') {
      this.visitStore(node, node.argument, scope);
      return;
    }
    const targets = this.resolveTargets(node.argument, scope);
    if (!targets.length) return;
    const number = this.writer.addSite(node, scope.fn, { scope, targets, rhs: node.argument });
    this.visit(node.argument, scope);
    this.writer.open(node.start, ` __dbg.u(${this.act(scope)},${number},`);
    this.writer.close(node.end, `,${node.argument.name})`);
  }

  // `o.k = e` reports the object before the assignment, and the value after it.
  visitStore(node, target, scope) {
    if (node.right && isNamed(node.right)) {
      node.right.givenName = target.computed ? undefined : target.property.name;
    }
    if (target.object.type === 'Super') {
      this.visitChildren(node, scope);
      return;
    }
    target.scope = scope;
    const key = target.computed ? undefined : this.keyText({ key: target.property });
    const number = this.writer.addSite(node, scope.fn, {
      scope, key, keyNode: target.computed ? target.property : undefined, rhs: node.right ?? target,
      object: target.object,
    });
    const act = this.act(scope);
    this.writer.open(node.start, ` __dbg.e(${act},${number},`);
    this.wrap(target.object, scope, ` __dbg.b(${act},${number},`, ')');
    if (target.computed) this.wrap(target.property, scope, ` __dbg.k(${act},`, ')');
    if (node.right) this.visit(node.right, scope);
    this.writer.close(node.end, ')');
  }

  UnaryExpression(node, scope) {
    if (node.operator === 'delete' && node.argument.type === 'MemberExpression') this.visitStore(node, node.argument, scope);
    else this.visitChildren(node, scope);
  }

  ReturnStatement(node, scope) {
    if (!node.argument) return;
    const number = this.writer.addSite(node, scope.fn, { scope, rhs: node.argument });
    node.argument.parent = node;
    this.wrap(node.argument, scope, ` __dbg.q(${this.act(scope)},${number},`, ')');
  }

  CallExpression(node, scope) {
    const { callee } = node;
    if (callee.name === HOOK) {
      this.visitHook(node, scope);
      return;
    }
    if (callee.type === 'Super' || callee.type === 'Import') {
      this.visitChildren(node, scope);
      return;
    }
    if (callee.name === 'eval') {
      this.visitEval(node, scope);
      return;
    }
    this.visitCall(node, scope);
  }

  NewExpression(node, scope) {
    this.visitCall(node, scope);
  }

  // Only a call by this name has the names of its place.
  visitEval(node, scope) {
    const [code] = node.arguments;
    if (!code || code.type === 'SpreadElement' || node.optional || scope.find('eval')) {
      this.visitChildren(node, scope);
      return;
    }
    const number = this.writer.addSite(node, scope.fn, { scope, method: 'eval' });
    const act = this.act(scope);
    this.writer.open(node.start, ` __dbg.r(${act},__dbg.s(${act},${number}),`);
    this.wrap(code, scope, ` __dbg.ev(${number},`, ')');
    this.writer.close(node.end, ')');
  }

  visitCall(node, scope) {
    const { callee } = node;
    const act = this.act(scope);
    const isMember = callee.type === 'MemberExpression' && node.type === 'CallExpression';
    const isProxy = node.type === 'NewExpression' && callee.name === 'Proxy';
    const method = isMember && !callee.computed ? callee.property.name : isProxy ? callee.name : undefined;
    const isMutator = MUTATORS.has(method);
    const number = this.writer.addSite(node, scope.fn, { scope, method });
    this.writer.open(node.start, ` __dbg.r(${act},__dbg.s(${act},${number}),`);
    callee.parent = node;
    callee.scope = scope;
    if (isMember && callee.object.type !== 'Super') {
      this.wrap(callee.object, scope, ` __dbg.o(${act},`, ')');
      if (callee.computed) this.visit(callee.property, scope);
    } else this.visit(callee, scope);
    const given = callee.name === 'Function' && !scope.find('Function') ? node.arguments : [];
    if (given.length) this.writer.open(given[0].start, `...__dbg.fn(${number},[`);
    for (const one of node.arguments) {
      one.parent = node;
      if (!isMutator || isNamed(one)) this.visit(one, scope);
      else if (one.type === 'SpreadElement') this.wrap(one.argument, scope, ` __dbg.gs(${act},`, ')');
      else this.wrap(one, scope, ` __dbg.g(${act},`, ')');
    }
    if (given.length) this.writer.close(given.at(-1).end, '])');
    this.writer.close(node.end, ')');
  }

  // The expression of the question: it is evaluated with the names of its place.
  visitHook(node, scope) {
    const [expression, when] = node.arguments;
    const number = this.writer.addSite(node, scope.fn, { scope, rhs: expression.body });
    // Of the expression only a call is recorded, when it is made at the place: it is followed.
    const isCall = expression.body.type === 'CallExpression';
    this.nameOriginals(expression.body);
    const silent = new Rewriter(new Writer(this.source, this.writer.file, new Map(), -1e6));
    (isCall ? this : silent).visit(expression.body, scope);
    this.writer.open(node.arguments[0].start, `${this.act(scope)},${number},`);
    this.writer.hook = { node: expression.body, when };
  }

  nameOriginals(node) {
    if (node.type === 'Identifier' && this.writer.renamed.has(node.name)) node.original = this.writer.renamed.get(node.name);
    for (const one of childrenOf(node)) this.nameOriginals(one);
  }

  AwaitExpression(node, scope) {
    const number = this.writer.addSite(node, scope.fn, { scope, rhs: node.argument });
    const act = this.act(scope);
    this.writer.open(node.start, ` __dbg.w(${act},${number},`);
    node.argument.parent = node;
    this.wrap(node.argument, scope, ` __dbg.p(${act},`, ')');
    this.writer.close(node.end, ')');
  }

  YieldExpression(node, scope) {
    if (!node.argument) return;
    const number = this.writer.addSite(node, scope.fn, { scope, rhs: node.argument });
    const act = this.act(scope);
    if (node.delegate) {
      this.wrap(node.argument, scope, ` __dbg.zd(${act},${number},`, ')');
      return;
    }
    this.writer.open(node.start, ` __dbg.w(${act},${number},`);
    this.wrap(node.argument, scope, ` __dbg.z(${act},${number},`, ')');
    this.writer.close(node.end, ')');
  }

  visitLiteral(node, scope) {
    const number = this.writer.addSite(node, scope.fn, { scope });
    this.writer.open(node.start, ` __dbg.n(${this.act(scope)},${number},`);
    for (const one of node.properties ?? node.elements) {
      if (!one) continue;
      one.parent = node;
      if (one.type === 'Property') {
        if (one.computed) this.visit(one.key, scope);
        if (isNamed(one.value)) Object.assign(one.value, { givenName: this.keyText(one), isSetter: one.kind === 'set' });
        one.value.parent = one;
        if (one.shorthand) {
          one.value.scope = scope;
          this.Identifier(one.value, scope);
        } else this.visit(one.value, scope);
      } else this.visit(one, scope);
    }
    this.writer.close(node.end, ')');
  }

  ObjectExpression(node, scope) {
    this.visitLiteral(node, scope);
  }

  ArrayExpression(node, scope) {
    this.visitLiteral(node, scope);
  }

  ExpressionStatement(node, scope) {
    node.expression.parent = node;
    this.visit(node.expression, scope);
  }
}

// Returns a function from the offsets of a text with an insertion to those of the text before.
function offsetsBefore(before, after) {
  let at = 0;
  while (before[at] === after[at] && at < before.length) at += 1;
  const length = after.length - before.length;
  return (offset) => (offset <= at ? offset : Math.max(offset - length, at));
}

// Rewrites one script.
//   order: the place of the question, `{line | function, expression, when}`; null without one
//   sites: the table that the numbered sites go to
//   lines: the lines of its sources, if it was compiled (source_lines.cjs)
function rewrite(acorn, source, { file, isModule, order, sites, base, lines }) {
  const options = {
    ecmaVersion: 'latest', sourceType: isModule ? 'module' : 'script', locations: true,
    allowHashBang: true, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: isModule,
    allowSuperOutsideMethod: true, allowImportExportEverywhere: false,
  };
  let text = source;
  let program = acorn.parse(text, options);
  lines?.place(program, childrenOf, (offset) => offset);
  let [hook, renamed] = ['', new Map()];
  const pattern = order ? findPattern(program, text, order) : null;
  if (order && !pattern) {
    const hooked = insertHook(acorn, program, text, { ...order, isCompiled: Boolean(lines) });
    if (hooked !== null) {
      ({ text, hook, renamed } = hooked);
      program = acorn.parse(text, options);
      lines?.place(program, childrenOf, offsetsBefore(source, text));
    }
  }
  const writer = new Writer(text, file, sites, base, renamed);
  new Rewriter(writer).rewriteProgram(program, isModule);
  return { code: writer.text(), next: writer.next, hook, pattern };
}

module.exports = { rewrite, MUTATORS, Rewriter, Writer, shownName };
