// A cache counts its entries; an eviction through another reference forgets the count.
class Cache {
  constructor(size) {
    this.size = size;
    this.count = 0;
    this.rows = [];
  }

  put(row) {
    this.rows.push(row);
    this.count++;
  }

  sum() {
    return this.rows.reduce((all, one) => all + one, 0);
  }
}

function evict(rows, least) {
  for (let at = rows.length - 1; at >= 0; at--) {
    if (rows[at] < least) {
      rows.splice(at, 1);
    }
  }
}

function trim(caches, least) {
  for (const one of caches) {
    evict(one.rows, least);
  }
}

function main() {
  const caches = [];
  for (let i = 0; i < 6; i++) {
    const cache = new Cache(4);
    for (let n = 1; n <= 3; n++) {
      cache.put(i + n);
    }
    caches.push(cache);
  }
  console.log(caches.map((one) => one.sum()).join(" "));
  trim(caches, 3);
  console.log(caches.map((one) => one.sum()).join(" "));
}

main();
