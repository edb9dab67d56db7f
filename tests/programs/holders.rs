// What is hard to look into in Rust: counted pointers, maps, queues, cells, numbers of 128 bits.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

struct Point {
    x: i32,
    y: i32,
}

fn main() {
    let counted = Rc::new(Point { x: 1, y: 2 });
    let again = Rc::clone(&counted);
    let atomic = Arc::new(String::from("shared"));
    let map: HashMap<u32, &str> = [(3, "three")].into_iter().collect();
    let set: HashSet<i64> = [5].into_iter().collect();
    let tree: BTreeMap<i32, i32> = [(1, 10), (2, 20)].into_iter().collect();
    let mut queue: VecDeque<u8> = VecDeque::with_capacity(4);
    queue.extend([1, 2, 3]);
    queue.pop_front();
    queue.extend([4, 5]);
    let cell = Cell::new(7);
    let shared = RefCell::new(vec![1, 2]);
    let wide: i128 = -(1 << 100);
    let slice: &[i32] = &[1, 2, 3];
    let nested: Option<Result<i32, String>> = Some(Ok(4));
    println!("{} {} {}", again.x + counted.y, atomic, map.len()); // @here
    println!("{} {} {} {} {}", set.len(), tree.len(), queue.len(), cell.get(), shared.borrow().len());
    println!("{} {} {}", wide, slice.len(), nested.is_some());
}
