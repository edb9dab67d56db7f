const fs = require('fs');
const stack = [];
function push(value) {
  stack.push(value);
}
function main() {
  push(8);
  const last = stack.pop();
  const text = fs.readFileSync(process.argv[2], 'utf8');
  const number = Number(text);
  console.log(last, number);
}
main();
