struct Bin { n: i32, total: i32 }
#[inline(never)]
fn add(b: &mut Bin, v: i32) {
    b.total += v;
    b.n += 1;
}
#[inline(never)]
fn twice(b: &mut Bin, v: i32) {
    add(b, v);
    add(b, v);
}
#[inline(never)]
fn mark(i: i32) -> i32 {
    i
}
fn main() {
    let step: i32 = std::env::args().nth(1).map_or(1, |a| a.parse().unwrap());
    let mut b = Bin { n: 0, total: 0 };
    for i in 0..6 {
        if i % 2 == 1 {
            twice(&mut b, i * step);
        } else {
            add(&mut b, i * step);
        }
        if i == 3 {
            mark(i);
        }
    }
    println!("{} {}", b.n, b.total);
}
