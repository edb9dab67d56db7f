// Rewrites scripts so that they count, and keeps what was made for the next run and the next process:
// to parse a script of 250 KB takes as long as to run it for a while.
'use strict';
const fs = require('fs');
const path = require('path');
const { createHash } = require('crypto');
const { deserialize, serialize, setFlagsFromString } = require('v8');
const { runInNewContext } = require('vm');
const { PREFIX, countBlocks } = require('./block_counters.cjs');

const MAKERS = ['block_counters.cjs', 'origin_scopes.cjs', 'rewritten_scripts.cjs'];
const TEMPLATE = 'T'; // instead of a script's number
const TREE_MAX = 100_000; // characters: the syntax tree of more is given back at once
const BRIEF_MAX = 1 << 19; // characters: to rewrite more repays the work of V8's optimizing compiler
const OPT_FLAG = /jitless|turbofan|[-_]opt\b/;
const SPACES = /[ \t\n\r]*/y;
const WORD = /[\w$]*/y;
const [SLASH, BACKSLASH] = [47, 92];

// Another Node or another rewriter makes another text.
function hashMakers() {
  const hash = createHash('sha256').update(process.version);
  for (const one of MAKERS) hash.update(fs.readFileSync(path.join(__dirname, one)));
  return hash.digest();
}

// Gives the parser in which V8 does the work of the innermost loops, by its own machine code.
function fastParser({ Parser }) {
  return Parser.extend((Base) => class extends Base {
    skipSpace() {
      SPACES.lastIndex = this.pos;
      SPACES.test(this.input);
      this.pos = SPACES.lastIndex;
      const next = this.input.charCodeAt(this.pos);
      if (next === SLASH || next < 32 || next > 127) super.skipSpace();
    }

    readWord1() {
      WORD.lastIndex = this.pos;
      WORD.test(this.input);
      const end = WORD.lastIndex;
      const next = this.input.charCodeAt(end);
      if (next === BACKSLASH || next > 127) return super.readWord1();
      const word = this.input.slice(this.pos, end);
      this.pos = end;
      this.containsEsc = false;
      return word;
    }

    validateRegExpFlags() {}

    validateRegExpPattern({ source, flags }) {
      new RegExp(source, flags);
    }
  });
}

// Rewrites without V8's optimizing compiler: for a short text its work takes longer than it saves.
function runBriefly(rewrite) {
  if (OPT_FLAG.test([...process.execArgv, process.env.NODE_OPTIONS].join(' '))) return rewrite();
  setFlagsFromString('--no-opt');
  try {
    return rewrite();
  } finally {
    setFlagsFromString('--opt');
  }
}

// Collects the young objects that the rewriting has left. The dead syntax tree would have them copied
// again and again: a program that allocates much ran at half its speed for the first seconds (V8 11.3).
function collectYoung() {
  setFlagsFromString('--expose-gc');
  try {
    runInNewContext('gc')({ type: 'minor' });
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}

class RewrittenScripts {
  // Without a folder nothing is kept.
  constructor(acorn, folder) {
    this.parser = fastParser(acorn);
    this.total = 0; // characters that were rewritten
    this.folder = folder;
    this.makers = null;
  }

  // Returns `{code, name, cells, readFunctions}`; throws where the text is no JavaScript.
  rewrite(text, isModule, number) {
    const file = this.folder && !text.includes(PREFIX) && this.fileOf(text, isModule);
    const kept = file && this.read(file);
    const made = kept || this.makeBriefly(text, isModule);
    if (file && !kept) this.write(file, made);
    const [before, name] = [PREFIX + TEMPLATE, `${PREFIX}${number}`];
    return { ...made, name, code: made.code.replaceAll(before, name) };
  }

  makeBriefly(text, isModule) {
    this.total += text.length;
    const make = () => this.make(text, isModule);
    const made = this.total > BRIEF_MAX ? make() : runBriefly(make);
    if (text.length > TREE_MAX) collectYoung();
    return made;
  }

  // Node finds out by the syntax of some scripts whether they are modules.
  make(text, isModule) {
    let made;
    try {
      made = countBlocks(this.parser, text, isModule, TEMPLATE);
    } catch (error) {
      if (isModule) throw error;
      made = countBlocks(this.parser, text, true, TEMPLATE);
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

module.exports = { RewrittenScripts, fastParser };
