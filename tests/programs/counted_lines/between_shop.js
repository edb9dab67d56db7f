
class Shop {
  open(kind) {
    if (kind === 'free') return 0;
    for (let i = 0; i < 3; i++) price(kind);
    return 1;
  }
  async close() {
    await null;
    return price('late');
  }
}
function price(kind) {
  return kind.length;
}
function report(shop) {
  price('r');
  if (shop.what === 'throws') throw new Error('no report');
  shop.open('free');
}
