// Echoes its input in upper case, line by line, until the end of the input.
'use strict';

const readline = require('readline');

let count = 0;

async function main() {
  console.log('ready');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    count += 1;
    console.log(line.toUpperCase()); // @read
  }
  console.log(`${count} lines`); // @eof
}

main();
