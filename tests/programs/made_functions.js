const vm = require('vm');
eval('function evalSum(a, b) {\n  const s = a + b;\n  return s;\n}\nglobalThis.evalSum = evalSum;');
const context = vm.createContext({});
vm.runInContext('function inContext(a = "{") {\n  return a * 3;\n}', context);
new vm.Script('const inScript = (a) => {\n  return a - 1;\n};', { filename: 'rules.js' }).runInThisContext();
const made = new Function('a', 'b', 'const q = a / b;\nreturn q;');
const other = new Function('a', 'return a;');
const arrow = eval('(a) => a * 7');
eval('class Rule { check(a) {\n  return a > 1;\n} }\nglobalThis.rule = new Rule();');
for (let i = 1; i < 4; i++) {
  evalSum(i, 2); context.inContext(i); inScript(i); made(i, 2); other(-1); arrow(i); rule.check(i);
}
