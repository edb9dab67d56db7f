// Loaded before code that was given on Node's command line and is in a file of its own, so that it has
// a source: gives that file what `node -e` has. Other scripts, and child processes, are left alone.
'use strict';
const Module = require('module');
const path = require('path');
const { realpathSync } = require('fs');

const file = process.env.DEBUGGER_NODE_CODE;

// `fs`, `path` and the others are variables there.
function addModules() {
  for (const name of Module.builtinModules) {
    if (/^_|[/:]/.test(name) || name === 'process' || name === 'console') continue;
    const get = () => {
      const value = require(name);
      Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
      return value;
    };
    const set = (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    Object.defineProperty(globalThis, name, { get, set, enumerable: false, configurable: true });
  }
}

if (file && process.argv[1] && path.resolve(process.argv[1]) === file) {
  // Node asks for the folders of a script's modules after it has noted its file, and before it compiles
  // it: so that nothing of this is on the stack of the code.
  const own = realpathSync(file);
  const nodeModulePaths = Module._nodeModulePaths;
  Module._nodeModulePaths = function codeModulePaths(from) {
    const module = process.mainModule;
    if (module?.filename !== own) return nodeModulePaths.call(this, from);
    Module._nodeModulePaths = nodeModulePaths;
    module.id = '[eval]';
    module.filename = path.join(process.cwd(), '[eval]');
    process.mainModule = undefined;
    process.argv.splice(1, 1);
    addModules();
    return nodeModulePaths.call(this, process.cwd());
  };
}
