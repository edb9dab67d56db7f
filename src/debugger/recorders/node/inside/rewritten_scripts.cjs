// Rewrites scripts so that they count, and keeps what was made for the next run and the next process:
// to parse a script of 250 KB takes as long as to run it for a while.
'use strict';
const fs = require('fs');
const path = require('path');
const { createHash } = require('crypto');
const { deserialize, serialize } = require('v8');
const { PREFIX, countBlocks } = require('./block_counters.cjs');

const MAKERS = ['block_counters.cjs', 'origin_scopes.cjs', 'rewritten_scripts.cjs'];
const TEMPLATE = 'T'; // instead of a script's number

// Another Node or another rewriter makes another text.
function hashMakers() {
  const hash = createHash('sha256').update(process.version);
  for (const one of MAKERS) hash.update(fs.readFileSync(path.join(__dirname, one)));
  return hash.digest();
}

class RewrittenScripts {
  // Without a folder nothing is kept.
  constructor(acorn, folder) {
    this.acorn = acorn;
    this.folder = folder;
    this.makers = null;
  }

  // Returns `{code, name, cells, readFunctions}`; throws where the text is no JavaScript.
  rewrite(text, isModule, number) {
    const file = this.folder && !text.includes(PREFIX) && this.fileOf(text, isModule);
    const kept = file && this.read(file);
    const made = kept || this.make(text, isModule);
    if (file && !kept) this.write(file, made);
    const [before, name] = [PREFIX + TEMPLATE, `${PREFIX}${number}`];
    return { ...made, name, code: made.code.replaceAll(before, name) };
  }

  // Node finds out by the syntax of some scripts whether they are modules.
  make(text, isModule) {
    let made;
    try {
      made = countBlocks(this.acorn, text, isModule, TEMPLATE);
    } catch (error) {
      if (isModule) throw error;
      made = countBlocks(this.acorn, text, true, TEMPLATE);
    }
    const { code, cells, functions } = made;
    return { code, cells, readFunctions: () => functions };
  }

  fileOf(text, isModule) {
    this.makers ??= hashMakers();
    const hash = createHash('sha256').update(this.makers).update(isModule ? 'module' : 'script');
    return path.join(this.folder, hash.update(text).digest('hex'));
  }

  read(file) {
    try {
      // What is read becomes code: only what this user has written is believed.
      if (fs.lstatSync(file).uid !== process.getuid()) return null;
      const { code, cells, functions } = deserialize(fs.readFileSync(file));
      fs.utimesSync(file, new Date(), new Date()); // the oldest are removed
      return { code, cells, readFunctions: () => deserialize(functions) };
    } catch {
      return null;
    }
  }

  write(file, { code, cells, readFunctions }) {
    try {
      const draft = `${file}.${process.pid}`;
      fs.writeFileSync(draft, serialize({ code, cells, functions: serialize(readFunctions()) }), { mode: 0o600, flag: 'wx' });
      fs.renameSync(draft, file);
    } catch {
      // The next run rewrites the script again.
    }
  }
}

module.exports = { RewrittenScripts };
