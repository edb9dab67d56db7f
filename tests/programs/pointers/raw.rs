// Rust's references, boxes and raw pointers; one of them is text.
struct Node {
    key: u64,
    next: *const Node,
}

fn take(node: &Node, list: &[u64], boxed: Box<u64>, member: *const Node, empty: Vec<u64>) -> u64 {
    println!("{} {} {} {:?}", node.key, list[0], boxed, member);
    empty.len() as u64 + unsafe { (*node.next).key } // @crash
}

fn main() {
    let word: usize = 0x302f617461641648;
    let node = Node { key: 4, next: word as *const Node };
    let list = vec![1, 2, 3];
    println!("{}", take(&node, &list, Box::new(3), 16 as *const Node, Vec::new()));
}
