// Values that a `match` gives: of an arm, of a pattern, of a function's last expression.
enum Shape {
    Circle(i32),
    Rect { w: i32, h: i32 },
}

fn area(shape: &Shape, scale: i32) -> i32 {
    match shape {
        Shape::Circle(r) => r * scale,
        Shape::Rect { w, h } if *w > 10 => w + h,
        Shape::Rect { w, h } => w * h, // @rect
    }
}

fn pick(code: i32) -> i32 {
    let kind = match code {
        0 => 10,
        1 | 2 => 20,             // @literal
        n if n > 100 => n - 100, // @guard
        _ => 99,
    };
    kind + 0 // @kind
}

fn find(list: &[(i32, i32)], key: i32) -> Option<i32> {
    for (k, v) in list {
        if *k == key {
            return Some(*v); // @found
        }
    }
    None
}

fn look(list: &[(i32, i32)], key: i32) -> i32 {
    let got = match find(list, key) {
        Some(v) => v, // @some
        None => -1,   // @none
    };
    println!("{got}"); // @look
    got
}

struct Pair {
    a: i64,
    b: i64,
    c: i64,
}

fn make(n: i64) -> Pair {
    Pair { a: n, b: n * 2, c: 3 } // @make
}

fn bump(p: Pair) -> Pair {
    Pair { b: p.b + 5, ..p } // @bump
}

fn swap(p: Pair) -> Pair {
    Pair { a: p.b, b: p.a, c: p.c } // @swap
}

fn main() {
    let rect = area(&Shape::Rect { w: 3, h: 4 }, 2);
    let circle = area(&Shape::Circle(5), 2);
    let second = pick(2);
    let large = pick(107); // @large
    let known = look(&[(1, 11), (2, 22)], 2);
    let unknown = look(&[(1, 11)], 9);
    let pair = swap(bump(make(7))); // @nested
    println!("{rect} {circle} {second} {large} {known} {unknown} {} {} {}", pair.a, pair.b, pair.c); // @show
}
