// Loaded before a program whose values are asked for at its end: stops there, after its own listeners.
'use strict';
const { isMainThread } = require('worker_threads');
const { resolve } = require('path');
const { rewriteLoaded } = require('./own_scripts.cjs');

const NAME = 'debugger.exit';
const IN_SCOPE = `globalThis[Symbol.for('${NAME}')]?.(__text=>eval(__text));`;
// A directive counts only as the first statement, behind comments.
const STRICT = /^(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*(['"])use strict\1/;

// A child process and a worker end by themselves.
if (isMainThread && process.env.DEBUGGER_AT_EXIT) {
  delete process.env.DEBUGGER_AT_EXIT;
  let inScope = null;
  const hook = (found) => {
    inScope ??= found;
  };
  hook.evaluate = (text) => {
    if (!inScope) throw new ReferenceError('the names of the script are not known at its end');
    return inScope(text);
  };
  globalThis[Symbol.for(NAME)] = hook;
  const main = findMain(process.argv[1] ?? '');
  rewriteLoaded((source, file, isModule) => {
    if (file !== main) return source;
    const text = source.replace(/^#!.*/, '');
    const strict = !isModule && STRICT.test(text) ? "'use strict';" : '';
    return strict + IN_SCOPE + text;
  }, () => {});
  const { emit } = process;
  process.emit = function emitAndStop(name, ...rest) {
    const isHeard = emit.call(this, name, ...rest);
    if (name === 'exit') debugger;
    return isHeard;
  };
}

function findMain(words) {
  try {
    return require.resolve(resolve(words));
  } catch {
    return words;
  }
}
