// Counts the nodes of a list that a wrong insertion has made a ring.
class Node {
  constructor(name) {
    this.name = name;
    this.next = null;
  }
}

function insertBefore(node, added) {
  added.next = node;
  node.next = added;
}

function count(node) {
  let total = 0;
  for (;;) {
    total += 1;
    if (node.next === null) {
      break;
    }
    node = node.next;
  }
  return total;
}

const first = new Node('a');
insertBefore(first, new Node('e'));
console.log(count(first));
