// Has values that hold others, each of which V8's own preview abbreviates.
'use strict';

class Basket {
  #items = [{ name: 'tea' }];

  get total() {
    return this.#items.length;
  }
}

function main() {
  const names = new Map([
    ['1', 1],
    [1, { deep: [1] }],
  ]);
  const tags = new Set(['1', 1]);
  const rows = [{ a: 1 }, [1, 2], , null];
  const order = { basket: new Basket(), rows: [{ id: 'ü' }] };
  const bytes = Buffer.from('hé');
  const outer = Object.assign(new Error('outer, ü', { cause: new TypeError('inner') }), { code: 'E' });
  const many = new AggregateError([new Error('one'), new TypeError('two')], 'many');
  const done = Promise.resolve([{ a: 1 }]);
  console.log(names, tags, rows, order, bytes, outer, many, done); // @ready
}

main();
