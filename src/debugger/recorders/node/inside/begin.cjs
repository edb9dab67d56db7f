// Loaded by every Node that is recorded, before the program: says what runs, and has V8's counts
// written when the program is to be ended, which it would not do by itself.
'use strict';
{
  const { isMainThread } = require('worker_threads');
  const { existsSync, readFileSync, writeFileSync } = require('fs');
  const { join } = require('path');
  const folder = process.env.NODE_V8_COVERAGE;
  if (isMainThread && folder) {
    const file = join(folder, `process-${process.pid}.json`);
    const words = [...process.argv];
    const told = { pid: process.pid, parent: process.ppid, words, time: Date.now() };
    try {
      writeFileSync(file, JSON.stringify(told));
    } catch {
      // The program's own numbers are there all the same.
    }
    const listener = () => {
      require('v8').takeCoverage();
      process.kill(process.pid, 'SIGKILL');
    };
    process.on('SIGUSR2', listener);
  }
  const order = folder && join(folder, 'between.json');
  if (order && existsSync(order)) {
    require('./between.cjs')(folder, JSON.parse(readFileSync(order, 'utf8')));
  }
}
