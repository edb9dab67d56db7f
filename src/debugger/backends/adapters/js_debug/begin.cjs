// What makes a program of Node's wait, before its own code runs, until its breakpoints are set?
//
// js-debug 1.112 has no way of its own: its stopOnEntry stops at the first place in a file that has
// code, which may be inside of a function that is never called. A worker is told by js-debug itself.
'use strict';

(() => {
  if (!require('worker_threads').isMainThread) return;
  try {
    const file = require('fs').realpathSync(require.resolve(process.argv[1]));
    // Compiled and not run, so that breakpoints in it say at once where they are. What is no
    // CommonJS is not understood: they bind when it is loaded.
    require('vm').compileFunction(
      require('fs').readFileSync(file, 'utf8'),
      ['exports', 'require', 'module', '__filename', '__dirname'],
      { filename: file },
    );
  } catch {
    // Its own loading will say what is wrong with it.
  }
  // Asked for by the debugger at the stop below, or later; an expression has no `require` of its own.
  const value = (orders) => require('./made_functions.cjs')(orders);
  Object.defineProperty(globalThis, Symbol.for('debugger-cli:made'), { value, configurable: true });
  debugger;
})();
