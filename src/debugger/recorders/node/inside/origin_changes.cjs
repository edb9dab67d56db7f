// Finds, between two hits of a line, the statement after which the watched expressions have changed.
'use strict';
const { trace, NONE, isObject } = require('./origin_trace.cjs');
const values = require('./origin_values.cjs');
const places = require('./origin_places.cjs');
const { Chain } = require('./origin_chain.cjs');

const FOUND_MAX = 8;
const CHANGES_MAX = 4; // between two hits
const EVALUATIONS_MAX = 5000;
const ARGUMENTS = 3;
const TEXT_MAX = 4000;

function rootsOf(node, found = []) {
  if (!node || typeof node.type !== 'string') return found;
  if (node.type === 'Identifier') found.push(node);
  else if (node.type === 'MemberExpression') rootsOf(node.object, found);
  else if (node.type === 'CallExpression') rootsOf(node.callee, found);
  else for (const one of ['left', 'right', 'argument', 'test', 'expression']) rootsOf(node[one], found);
  return found;
}

class Changes {
  constructor(order) {
    this.order = order;
    this.found = [];
    this.hits = 0;
    this.evaluations = 0;
    this.last = null;
    this.isBusy = false;
    trace.onWrite = (list, event) => this.afterWrite(list, event);
  }

  evaluate(expression) {
    const { current } = trace;
    this.isBusy = true;
    this.evaluations += 1;
    trace.current = null;
    try {
      // Of a long text the end may be what differs.
      return expression().map((one) => (typeof one === 'string' ? `'${one.slice(0, TEXT_MAX)}'` : values.formatValue(one)));
    } catch {
      return null;
    } finally {
      trace.current = current;
      this.isBusy = false;
    }
  }

  // A loop's counter is another at each hit, and says nothing.
  watchedColumns(elements, act) {
    const isCounter = (one) => one.type === 'Identifier' &&
      values.findVariable(one, act)?.events.some((event) => event.site.node.type === 'UpdateExpression');
    const all = elements.map((one, at) => (isCounter(one) ? -1 : at)).filter((at) => at >= 0);
    return all.length ? all : elements.map((_, at) => at);
  }

  meet(act, number, expression) {
    const texts = this.evaluate(expression);
    const { elements } = trace.sites.get(number).rhs;
    const columns = this.watchedColumns(elements, act);
    const { last } = this;
    // As the first run numbers its hits: those at which any value is another.
    const before = this.hits;
    if (!last || !texts || texts.some((one, at) => one !== last.texts[at])) this.hits += 1;
    if (last && texts && columns.some((at) => texts[at] !== last.texts[at])) {
      for (const one of last.changes) {
        if (this.found.length < FOUND_MAX) this.found.push(this.describe(before, last, one, texts, columns));
      }
    }
    const lists = new Set(elements.flatMap((one) => rootsOf(one))
      .map((one) => values.findVariable(one, act)).filter(Boolean)
      .map((one) => ((one.owner.variables ??= [])[one.binding.index] ??= [])));
    this.last = { texts: texts ?? [], lists, expression, runs: new Map(), now: texts ?? [], changes: [] };
  }

  afterWrite(list, event) {
    const { last } = this;
    if (!last || this.isBusy || !last.lists.has(list) || event.site.node.type === 'UpdateExpression') return;
    const number = event.site.number;
    last.runs.set(number, (last.runs.get(number) ?? 0) + 1);
    if (last.changes.length >= CHANGES_MAX || this.evaluations > EVALUATIONS_MAX) return;
    const texts = this.evaluate(last.expression);
    if (!texts || texts.every((one, at) => one === last.now[at])) return;
    last.changes.push({ event, texts, before: last.now, run: last.runs.get(number) });
    last.now = texts;
  }

  describe(first, last, change, texts, columns) {
    const { event, run } = change;
    const { site, act } = event;
    const column = columns.find((at) => change.texts[at] !== change.before[at]) ?? 0;
    return {
      first,
      second: this.hits,
      frame: places.makeFrame(site.node, act),
      statement: places.textOf(site.node, act),
      run,
      runs: last.runs.get(site.number),
      before: change.before[column],
      after: change.texts[column],
      is_final: columns.every((at) => change.texts[at] === texts[at]),
      ...this.describeCall(site.rhs, act, event.time),
    };
  }

  // What the statement called, its arguments, and where the one that a loop chose comes from.
  describeCall(node, act, time) {
    const call = node ? values.lastCall(node, act, time) : null;
    if (!call) return { operands: [] };
    const { child } = call;
    const called = child && !places.isCallbackOf(child, node, act)
      ? { ...places.makeFrame(child.site.node, child) } : null;
    const operands = [];
    let source = null;
    for (const one of [node.callee, ...node.arguments]) {
      const value = values.valueOf(one, act, time);
      if (value === NONE || (one === node.callee && called)) continue;
      const isChosen = one.type === 'MemberExpression' ? one.computed : this.isOfLoop(one, act, time);
      if (isChosen && operands.length < ARGUMENTS) {
        operands.push({ text: this.nameOf(one, act, time), value: values.formatValue(value) });
        source ??= isObject(value) ? this.sourceOf(one, act, time) : null;
      }
    }
    return { operands, called, source };
  }

  isOfLoop(node, act, time) {
    const found = node.type === 'Identifier' ? values.findVariable(node, act) : null;
    return Boolean(values.lastBefore(found?.events, time)?.round);
  }

  nameOf(node, act, time) {
    const text = places.textOf(node, act);
    if (node.type !== 'MemberExpression') return text;
    const key = values.keyOf(node, act, time);
    return key === NONE ? text : `${places.textOf(node.object, act)}[${String(key)}]`;
  }

  sourceOf(node, act, time) {
    const chain = new Chain({ site: { node }, act, time: trace.time + 1, value: NONE }, this.order);
    chain.follow({ node, act, time });
    return chain.links.at(-1)?.frame ?? null;
  }
}

module.exports = { Changes };
