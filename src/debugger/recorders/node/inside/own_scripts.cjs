// Gives the program's own scripts to a rewriter as they are loaded.
'use strict';
const path = require('path');
const Module = require('module');
const { fileURLToPath } = require('url');

function isBelow(file, roots) {
  return roots.some((root) => file.startsWith(root.endsWith('/') ? root : `${root}/`));
}

function isInstalled(file) {
  return file.includes(`${path.sep}node_modules${path.sep}`);
}

// Calls `rewriteScript(source, file, isModule)` for each script; `note` is told what is not possible.
function rewriteLoaded(rewriteScript, note) {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function compileOwn(content, filename, ...rest) {
    return compile.call(this, rewriteScript(content, filename, false), filename, ...rest);
  };
  // Of ES modules the sources come by Node's own translator, in the same thread.
  try {
    const { translators } = require('internal/modules/esm/translators');
    const translate = translators.get('module');
    translators.set('module', function translateOwn(url, source, ...rest) {
      const file = url.startsWith('file://') ? fileURLToPath(url) : '';
      const text = typeof source === 'string' ? source : Buffer.from(source).toString();
      return translate.call(this, url, file ? rewriteScript(text, file, true) : source, ...rest);
    });
  } catch (error) {
    note(`ES modules are not recorded: ${error.message}`);
  }
}

module.exports = { isBelow, isInstalled, rewriteLoaded };
