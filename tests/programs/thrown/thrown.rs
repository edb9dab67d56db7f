// A panic that leaves one function, and is caught in its caller.
use std::panic;

fn total(count: i32) -> i32 {
    if count > 2 {
        panic!("too {}", "big"); // @too_big
    }
    count
}

fn safe(count: i32) -> i32 {
    panic::catch_unwind(|| total(count)).unwrap_or(-1)
}

fn main() {
    println!("{} {} {}", safe(1), safe(3), safe(2));
}
