// Loaded by every Node that is recorded, before the program: says what runs, has what runs counted, and
// has the counts written when the program is to be ended, which it would not do by itself.
'use strict';
{
  const { isMainThread } = require('worker_threads');
  const { readFileSync, writeFileSync } = require('fs');
  const { join } = require('path');
  const folder = process.env.NODE_V8_COVERAGE;
  if (folder) {
    let order = {};
    try {
      order = JSON.parse(readFileSync(join(folder, 'order.json'), 'utf8'));
    } catch {
      // The folder is of somebody else: V8 counts.
    }
    let write = require('v8').takeCoverage;
    if (order.between) require('./between.cjs')(folder, order.between);
    // Of a worker that is terminated only Node itself writes counts.
    else if (order.roots && isMainThread) write = require('./own_counts.cjs')(folder, order.roots, order.cache);
    if (isMainThread) {
      const file = join(folder, `process-${process.pid}.json`);
      const words = [...process.argv];
      const variables = {};
      for (const name of order.variables ?? []) {
        if (name in process.env) variables[name] = process.env[name];
      }
      const told = { pid: process.pid, parent: process.ppid, words, time: Date.now(), variables };
      try {
        writeFileSync(file, JSON.stringify(told));
      } catch {
        // The program's own numbers are there all the same.
      }
      const listener = () => {
        write();
        process.kill(process.pid, 'SIGKILL');
      };
      process.on('SIGUSR2', listener);
    }
  }
}
