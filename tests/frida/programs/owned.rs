use std::collections::HashMap;

trait Speaks {
    fn says(&self, n: u32) -> String;
}
struct Cat;
struct Dog(u32);
impl Speaks for Cat {
    fn says(&self, n: u32) -> String {
        "m".repeat(n as usize)
    }
}
impl Speaks for Dog {
    fn says(&self, n: u32) -> String {
        format!("w{}", self.0 + n)
    }
}

fn parsed(text: &str) -> Result<i64, std::num::ParseIntError> {
    let n = text.parse::<i64>()?;
    Ok(n * 2)
}

fn main() {
    let all: Vec<Box<dyn Speaks>> = vec![Box::new(Cat), Box::new(Dog(4))];
    let mut seen = HashMap::new();
    for n in 0..12u32 {
        for one in &all {
            *seen.entry(one.says(n % 5)).or_insert(0) += 1;
        }
    }
    let mut keys: Vec<_> = seen.into_iter().collect();
    keys.sort();
    println!("{:?}", keys);
    let mut total = 0;
    for text in ["1", "x", "-7", "", "90"] {
        match parsed(text) {
            Ok(n) => total += n,
            Err(_) => total -= 1,
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let broken = std::panic::catch_unwind(|| parsed("?").unwrap());
    println!("{} {}", total, broken.is_err());
    std::process::exit((total % 30) as i32);
}
