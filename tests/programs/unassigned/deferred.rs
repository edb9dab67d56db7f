// Rust's locals come into scope when they are assigned.
fn work(count: u64) -> u64 {
    let total = count + 1; // @entry
    let text = String::from("abc");
    let mut sum = 0;
    for at in 0..count {
        let square = at * at;
        sum += square;
    }
    let last = total + sum; // @late
    last + text.len() as u64
}

fn main() {
    println!("{}", work(4));
}
