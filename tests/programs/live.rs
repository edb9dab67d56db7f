// As live.c.
use std::io::Write;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};

static COUNTER: AtomicI64 = AtomicI64::new(0);
static GO: AtomicI32 = AtomicI32::new(1);
static mut BONUS: i64 = 1;

fn twice(value: i64) -> i64 {
    let doubled = value * 2; // @inner
    doubled
}

#[inline(never)]
fn work(n: i64) -> i64 {
    let mut result = twice(n); // @call
    result += unsafe { BONUS }; // @after
    COUNTER.fetch_add(result, Ordering::SeqCst); // @add
    result
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode == "forever" {
        println!("running");
        std::io::stdout().flush().unwrap();
        while GO.load(Ordering::SeqCst) != 0 {
            work(1);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    } else if !mode.is_empty() {
        let made: Vec<_> = (100..102).map(|n| std::thread::spawn(move || work(n))).collect();
        for one in made {
            one.join().unwrap();
        }
    } else {
        for n in 1..=10 {
            work(n); // @loop
        }
    }
    println!("counter {}", COUNTER.load(Ordering::SeqCst));
}
