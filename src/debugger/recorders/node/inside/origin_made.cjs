// Rewrites the code that a program makes of texts: of a direct `eval`, of `Function`, and what `vm`
// compiles for the program's own context. Its lines are told as those of the call that was given the text.
'use strict';
const vm = require('vm');
const { Scope, childrenOf, declareBlock, declareVars } = require('./origin_scopes.cjs');
const { Rewriter, Writer } = require('./origin_sites.cjs');
const { Activation, trace } = require('./origin_trace.cjs');

const TEXT_MAX = 1 << 20; // characters of one text
const TEXTS_MAX = 2000; // that are rewritten
const PARSING = {
  ecmaVersion: 'latest', sourceType: 'script', locations: true, allowReturnOutsideFunction: true,
  allowSuperOutsideMethod: true, allowAwaitOutsideFunction: false,
};

// Every node has the text that it is a part of, and the location of the call.
function placeAtCall(node, { loc }, source) {
  node.code = source;
  node.loc = loc;
  for (const one of childrenOf(node)) placeAtCall(one, { loc }, source);
}

class MadeScripts {
  // `numbers` has the next number of a site; `note` is told what is not possible.
  constructor(acorn, numbers, note) {
    this.acorn = acorn;
    this.numbers = numbers;
    this.note = note;
    this.count = 0;
    this.roots = []; // the activations that code without surroundings belongs to
  }

  rewrite(text, make) {
    if (typeof text !== 'string' || text.length > TEXT_MAX || this.count > TEXTS_MAX) return text;
    this.count += 1;
    if (this.count > TEXTS_MAX) {
      this.note(`${TEXTS_MAX.toLocaleString('en')} texts that became code are recorded, and no further ones`);
      return text;
    }
    try {
      return make();
    } catch {
      return text; // the program gets V8's own error for it
    }
  }

  parse(source, site) {
    const program = this.acorn.parse(source, PARSING);
    placeAtCall(program, site.node, source);
    const writer = new Writer(source, site.file, trace.sites, this.numbers.next);
    return { program, writer, rewriter: new Rewriter(writer) };
  }

  finish(writer) {
    this.numbers.next = writer.next;
    return writer.text();
  }

  // The code of a direct `eval` has the names of its place.
  rewriteEval(number, text) {
    const site = trace.sites.get(number);
    return this.rewrite(text, () => {
      const { program, writer, rewriter } = this.parse(text, site);
      let own = site.scope;
      while (own.parent && own.parent.fn === own.fn) own = own.parent;
      declareVars(program, own);
      const inner = new Scope(site.scope, site.scope.fn);
      declareBlock(program.body, inner);
      for (const one of program.body) rewriter.visit(one, inner);
      return this.finish(writer);
    });
  }

  // Code that is compiled by itself belongs to an activation that nothing has called.
  makeRoot({ program, writer }) {
    const fn = {
      depth: 0, node: program, name: '<module>', shown: '<module>', count: 0, parent: null,
      actText: `__dbg.roots[${this.roots.length}]`,
    };
    const scope = new Scope(null, fn);
    const { current } = trace;
    trace.current = null;
    this.roots.push(new Activation(writer.addSite(program, fn, { scope }), null, undefined, []));
    trace.current = current;
    return scope;
  }

  rewriteScript(text, site) {
    return this.rewrite(text, () => {
      const parts = this.parse(text, site);
      const scope = this.makeRoot(parts);
      declareVars(parts.program, scope);
      declareBlock(parts.program.body, scope);
      for (const one of parts.program.body) parts.rewriter.visit(one, scope);
      return this.finish(parts.writer);
    });
  }

  // Returns the body of a function with these parameters.
  rewriteBody(params, body, site) {
    return this.rewrite(body, () => {
      const head = `(function anonymous(${params.join(',')}\n) {`;
      const parts = this.parse(`${head}${body}\n})`, site);
      const [{ expression }] = parts.program.body;
      if (expression.type !== 'FunctionExpression' || expression.params.some((one) => one.type === 'AssignmentPattern')) return body;
      parts.rewriter.visit(expression, this.makeRoot(parts));
      return this.finish(parts.writer).slice(head.length, -'})'.length);
    });
  }

  rewriteArguments(number, words) {
    const site = trace.sites.get(number);
    const texts = words.map(String);
    return [...texts.slice(0, -1), this.rewriteBody(texts.slice(0, -1), texts.at(-1), site)];
  }

  // What `vm` compiles for another context is left: the recorder's own functions are not there.
  replaceVm() {
    const made = this;
    const { compileFunction, runInThisContext } = vm;
    vm.runInThisContext = function runInThisContextOwn(code, ...rest) {
      const site = callSite('runInThisContext');
      return runInThisContext.call(this, site ? made.rewriteScript(code, site) : code, ...rest);
    };
    vm.compileFunction = function compileFunctionOwn(code, params, options, ...rest) {
      const site = options?.parsingContext ? null : callSite('compileFunction');
      const text = site ? made.rewriteBody(params ?? [], code, site) : code;
      return compileFunction.call(this, text, params, options, ...rest);
    };
  }
}

// The call of the program's own code that is being made.
function callSite(name) {
  const site = trace.sites.get(trace.current?.stack.at(-1)?.site);
  const callee = site?.node.callee;
  return (callee?.property?.name ?? callee?.name) === name ? site : null;
}

module.exports = { MadeScripts };
