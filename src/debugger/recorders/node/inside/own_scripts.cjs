// Gives the program's own scripts to a rewriter as they are loaded.
'use strict';
const path = require('path');
const Module = require('module');
const { fileURLToPath } = require('url');
const requireInternal = require('./node_internals.cjs');

function isBelow(file, roots) {
  return roots.some((root) => file.startsWith(root.endsWith('/') ? root : `${root}/`));
}

function isInstalled(file) {
  return file.includes(`${path.sep}node_modules${path.sep}`);
}

// Calls `rewriteScript(source, file, isModule, url)` for each script; `note` is told what is not possible.
function rewriteLoaded(rewriteScript, note) {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function compileOwn(content, filename, format, ...rest) {
    const [plain, kind] = stripTypes(content, filename, format);
    const code = rewriteScript(plain, filename, kind === 'module');
    return compile.call(this, code, filename, kind, ...rest);
  };
  // Of ES modules the sources come by Node's own translators, in the same thread; so do those of
  // CommonJS that a loader of the program has changed. Since Node 22 they are in a context.
  try {
    const { translators } = requireInternal('internal/modules/esm/translators');
    for (const kind of ['module', 'commonjs', 'commonjs-sync', 'require-commonjs']) {
      const translate = translators.get(kind);
      if (!translate) continue;
      translators.set(kind, function translateOwn(url, given, ...rest) {
        const hasContext = given !== null && typeof given === 'object' && 'source' in given;
        const source = hasContext ? given.source : given;
        const file = url.startsWith('file://') ? fileURLToPath(url) : '';
        if (!file || source === null || source === undefined) return translate.call(this, url, given, ...rest);
        const text = typeof source === 'string' ? source : Buffer.from(source).toString();
        const code = rewriteScript(text, file, kind === 'module', url);
        if (hasContext) given.source = code;
        return translate.call(this, url, hasContext ? given : code, ...rest);
      });
    }
  } catch (error) {
    note(`ES modules are not recorded: ${error.message}`);
  }
}

// Node itself removes the types of TypeScript when it compiles a script: a rewriter needs it before.
function stripTypes(content, filename, format) {
  if (!/typescript$/.test(format ?? '')) return [content, format];
  const { stripTypeScriptModuleTypes } = requireInternal('internal/modules/typescript');
  const kind = { 'commonjs-typescript': 'commonjs', 'module-typescript': 'module' }[format];
  return [stripTypeScriptModuleTypes(content, filename), kind];
}

module.exports = { isBelow, isInstalled, rewriteLoaded };
