// Runs child_worker.js as a child process and ends with its exit status.
'use strict';

const path = require('path');
const { fork } = require('child_process');

console.log('parent starts');
const child = fork(path.join(__dirname, 'child_worker.js'), ['7']); // @run
child.on('exit', (code) => {
  console.log(`child ended with ${code}`); // @after
  process.exitCode = code;
});
