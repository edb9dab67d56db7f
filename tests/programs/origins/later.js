// A value that is written after it is read, as nobody waits for what writes it.
'use strict';

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

async function render(chunk) {
  await wait(5);
  chunk.code = `code of ${chunk.name}`; // @written
}

async function renderAll(chunks) {
  Promise.all(chunks.map(async (one) => { // @dropped
    await render(one);
  }));
}

async function load(name) {
  return { name };
}

async function main(how) {
  const chunk = { name: 'main' };
  await renderAll([chunk]);
  if (how === 'promise') {
    const found = load('x'); // @promise
    console.log(found.name.length); // @used
  }
  console.log(chunk.code.length); // @read
}

main(process.argv[2]);
