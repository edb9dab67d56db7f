
use std::hint::black_box;
#[derive(Clone, Copy)]
pub struct Large { a: i64, b: i64, c: i64 }
#[inline(never)]
fn rusts(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, large: Large, few: [i32; 5]) -> i64 {
    black_box(a + b + c + d + e + f) + black_box(&large).b + black_box(&few)[1] as i64
}
#[inline(never)]
#[no_mangle]
extern "C" fn as_in_c(n: i64, large: Large) -> i64 { black_box(n) + black_box(large.b) }
fn main() {
    let one = || black_box(1);
    let large = black_box(Large { a: 1, b: 2, c: 3 });
    rusts(one(), one(), one(), one(), one(), one(), large, black_box([1, 2, 3, 4, 5]));
    as_in_c(one(), large);
}
