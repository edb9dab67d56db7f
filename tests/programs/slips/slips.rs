// Small bugs, chosen by the first argument.
struct Node {
    qty: i32,
    next: Option<Box<Node>>,
}

fn unwraps(first: &Option<Box<Node>>) -> i32 {
    first.as_ref().unwrap().next.as_ref().unwrap().qty
}

fn character(text: &str) -> usize {
    let at = text.len() - 2; // @character
    text[..at].len()
}

fn converted(n: i64) -> i32 {
    let small = n as u8; // @converted
    let table = [1, 2, 3, 4];
    table[small as usize]
}

fn main() {
    let bug = std::env::args().nth(1).unwrap_or_default();
    let first = Some(Box::new(Node { qty: 1, next: None }));
    let found = match bug.as_str() {
        "unwraps" => unwraps(&first),
        "character" => character("caf\u{e9}s\u{e9}x") as i32,
        "converted" => converted(300),
        _ => 0,
    };
    println!("{found}");
}
