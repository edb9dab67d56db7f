function* inner() {
  yield 5;
  yield -7;
}
function* outer() {
  yield 1;
  yield* inner();
}
class Box {
  static made = 0;
  static make() { Box.made += 1; return Box.made; }
  set height(value) { this.h = value; }
}
function raise(conf) { conf.limit = 50; }
function drop(object) { delete object.a; }
async function two() { return 2; }

async function main() {
  const all = [0, ...outer()], yielded = all[3];
  const list = Array.from(outer());
  const listed = list[2];
  const set = new Set();
  for (const word of ['the', 'cat', 'the']) set.add(word);
  const words = [...set];
  const word = words[1];
  const map = new Map();
  map.set('a', 1);
  map.set('b', 1);
  const got = [];
  for (const [, value] of map) got.push(value);
  const entry = got[0];
  const stock = { pear: 1, fig: 2 };
  stock.fig = 20;
  const pairs = Object.fromEntries(Object.entries(stock).map(([key, value]) => [key, value]));
  const paired = pairs.fig;
  const box = new Box();
  box.height = 0;
  const assigned = box.h;
  const proxy = new Proxy({ rate: 2 }, {});
  proxy.rate = 4;
  const behind = proxy.rate;
  const conf = Object.freeze({ limit: 5 });
  raise(conf);
  const frozen = conf.limit;
  const holder = { a: 1 };
  drop(holder);
  const dropped = holder.a;
  const swapped = [10, 20, 30];
  [swapped[0], swapped[2]] = [swapped[2], swapped[0]];
  const first = swapped[0];
  const sum = [1, '2', 3].reduce((so, one) => so + one, 0);
  Box.make();
  const made = Box.make();
  const settled = await Promise.allSettled([two()]);
  const fulfilled = settled[0].value;
  const cut = [1, 2, 3];
  cut.length = 1;
  const absent = cut[1];
  const grown = [];
  grown.push(1);
  const length = grown.length;
  map.delete('a');
  const later = [...map][0];
  return [yielded, listed, word, entry, paired, assigned, behind, frozen, dropped, first, sum, made, fulfilled, absent, length, later];
}
main().then((all) => console.log(all.length));
