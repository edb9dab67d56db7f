// A text that goes through several stages, of which one spoils it.
'use strict';

const STAGES = [
  { name: 'trim', from: /^ +| +$/g, to: '' },
  { name: 'dash', from: /-/g, to: ' ' },
  { name: 'digits', from: /\d/g, to: '' }, // @spoils
  { name: 'upper', from: /^x/, to: 'X' },
];

function apply(text, stage) {
  return text.replace(stage.from, stage.to); // @replace
}

function run(text, passes) {
  let found = text;
  for (let pass = 0; pass < passes; pass++) {
    found = `${found}`; // @pass
    for (const stage of STAGES) {
      found = apply(found, stage); // @apply
    }
  }
  return found; // @end
}

console.log(run('a-1', 3));
