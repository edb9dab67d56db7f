const waiting = new Map();
function reply(number) {
  return new Promise((resolve) => waiting.set(number, resolve));
}
async function load(number) {
  const told = await reply(number);
  return told.total;
}
async function show() {
  console.log(await load(7));
}
function search(list, wanted) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted) low = middle;
    else high = middle;
  }
  return low;
}
if (process.argv[2] === "busy") search([1, 2, 3, 5], 4);
setInterval(() => {}, 1000);
show();
