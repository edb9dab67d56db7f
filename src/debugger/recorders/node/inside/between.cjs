// Has V8 write its counts, and count anew, where a thread first comes to one place, and where it
// next comes to another. Nothing pauses there: a breakpoint's condition does it, and says no. Each
// breakpoint is there until it is met, so that nothing is slow that is passed often.
'use strict';
const { readdirSync, renameSync, writeFileSync } = require('fs');
const { join } = require('path');
const { threadId } = require('worker_threads');
const { takeCoverage } = require('v8');

const KEY = 'debugger-counted';

module.exports = function between(folder, order) {
  const { Session } = require('inspector');
  const session = new Session();
  session.connect();
  const names = ['before', 'between'];
  let ids = [];

  // Of a session within the process, the answer is there when `post` returns.
  function ask(method, params) {
    let answer = {};
    session.post(method, params, (error, result) => {
      answer = error ? {} : result;
    });
    return answer;
  }

  function put(edge) {
    ids = order[edge].map(({ url, line, column }, mark) => {
      const condition = `globalThis[Symbol.for('${KEY}')]?.(${edge}, ${mark})`;
      const place = { lineNumber: line - 1, columnNumber: column - 1 };
      // What comes behind the address is the program's own way to load a module twice.
      const urlRegex = `^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}([?#].*)?$`;
      return ask('Debugger.setBreakpointByUrl', { ...place, urlRegex, condition }).breakpointId;
    });
  }

  function kept(edge) {
    takeCoverage();
    for (const one of readdirSync(folder)) {
      const isOwn = one.startsWith(`coverage-${process.pid}-`) && one.endsWith(`-${threadId}.json`);
      if (isOwn) renameSync(join(folder, one), join(folder, one.replace('coverage', names[edge])));
    }
  }

  function met(edge, mark) {
    try {
      for (const breakpointId of ids) {
        if (breakpointId) ask('Debugger.removeBreakpoint', { breakpointId });
      }
      ids = [];
      kept(edge);
      if (edge === 0) {
        const file = join(folder, `begun-${process.pid}-${threadId}.json`);
        writeFileSync(file, JSON.stringify({ mark }));
        put(1);
      }
    } catch {
      // What it cannot write is not told; the program goes on.
    }
    return false;
  }

  Object.defineProperty(globalThis, Symbol.for(KEY), { value: met });
  ask('Debugger.enable');
  put(0);
};
