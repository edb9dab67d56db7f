export let total = 1;
export function count(by) {
  total += by;
}
