const orders = [];

function order(id, total) {
  const made = { id, total };
  orders.push(made);
  return made;
}

async function discount(target, percent) {
  await null;
  const share = percent / 100;
  target.total = target.total * (1 - share);
}

function firstOf(values) {
  values[0] = 'changed';
  return values;
}

async function main() {
  const first = order(1, 80);
  const second = order(2, 50);
  await discount(second, 10);
  await discount(first, 100);
  const x = [1, 2];
  firstOf(x);
  console.log(first.total, second.total, x[0]);
}

main();
