// Counts until `running` is set to false, or for 120 seconds.
'use strict';

const deadline = Date.now() + 120_000;

function count() {
  let running = true;
  let counter = 0;
  while (running && Date.now() < deadline) {
    counter += 1; // @count
  }
  return counter;
}

function main() {
  console.log('counting'); // @start
  count();
  console.log('done'); // @done
}

main();
