// Starts a worker thread, which doubles a number, and waits for its end.
'use strict';

const { Worker, isMainThread, workerData } = require('worker_threads');

function double(number) {
  const doubled = number * 2;
  return doubled; // @work
}

if (isMainThread) {
  const worker = new Worker(__filename, { workerData: 21 }); // @start
  worker.on('exit', (code) => {
    console.log(`worker ended with ${code}`); // @joined
  });
} else {
  console.log(`worker says ${double(workerData)}`);
}
