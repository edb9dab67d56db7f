function total(items, limit) {
  for (const item of items) {
    if (item.price > limit && item.parts.length === 2) {
      use(item);
    } else if (check(item, limit)) {
      drop(item);
    } else {
      keep(item);
    }
    if (a[i] === 'x') return 3;
  }
  return null;
}
