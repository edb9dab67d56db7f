// Gives Node's own modules, such as its parser of JavaScript, to what is loaded before a program. A
// user's `require` refuses them; the variables of Node's loader, which V8 shows, have the one that does not.
'use strict';
const Module = require('module');

const KEY = '__dbg_internals';

function findRequire() {
  const { Session } = require('inspector');
  const session = new Session();
  session.connect();
  const ask = (method, params) => {
    let answer = null;
    session.post(method, params, (error, result) => {
      if (error) throw new Error(error.message);
      answer = result;
    });
    return answer;
  };
  const define = (value) => Object.defineProperty(globalThis, KEY, { value, configurable: true, writable: true });
  const propertiesOf = (objectId) => ask('Runtime.getProperties', { objectId, ownProperties: true });
  const named = (list, name) => list.find((one) => one.name === name)?.value.objectId;
  define(Module._load);
  try {
    const { objectId } = ask('Runtime.evaluate', { expression: KEY }).result;
    const scopes = named(propertiesOf(objectId).internalProperties, '[[Scopes]]');
    // The innermost scope of a function of the loader is that of its file.
    const file = propertiesOf(scopes).result[0].value.objectId;
    const functionDeclaration = `function () { globalThis.${KEY} = this; }`;
    ask('Runtime.callFunctionOn', { objectId: named(propertiesOf(file).result, 'require'), functionDeclaration });
    return globalThis[KEY];
  } finally {
    delete globalThis[KEY];
    session.disconnect();
  }
}

let found = null;

// Requires one of Node's own modules; throws where this Node does not have it.
module.exports = function requireInternal(name) {
  found ??= findRequire();
  return found(name);
};
