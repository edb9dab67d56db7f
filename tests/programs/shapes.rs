// Values of Rust's usual kinds, in a module of their own.
mod zoo {
    pub enum Animal {
        Dog { legs: u8, name: String },
        Bird(f64),
        Ghost,
    }

    pub fn legs(animal: &Animal) -> u8 {
        match animal {
            Animal::Dog { legs, name } => legs + name.len() as u8, // @dog
            Animal::Bird(size) => *size as u8,
            Animal::Ghost => 0,
        }
    }
}

struct Pair(i32, &'static str);

fn largest<T: PartialOrd + Copy>(items: &[T]) -> T {
    let mut best = items[0];
    for item in items {
        if *item > best {
            best = *item; // @best
        }
    }
    best
}

fn show(animal: zoo::Animal, other: zoo::Animal, boxed: Box<i32>) -> usize {
    let pair = Pair(-3, "pair");
    let maybe: Option<Box<u16>> = Some(Box::new(9));
    let nothing: Option<Box<u16>> = None;
    let names = vec![String::from("a"), String::from("bc")];
    let tuple = (1u8, 2.5f32, 'x', true);
    let array = [1i64, -2, 3];
    let failed: Result<u32, String> = Err("bad".to_string());
    let value = 1;
    {
        let value = "inner";
        println!("{} {}", value, pair.1); // @shown
    }
    let sum = zoo::legs(&animal) as i64 + zoo::legs(&other) as i64 + largest(&array);
    println!("{} {} {:?} {:?} {} {:?} {:?} {}", sum, boxed, maybe, nothing, names.len(), tuple, failed, value);
    pair.0 as usize + largest(&[1.5, 0.5]) as usize
}

fn main() {
    let dog = zoo::Animal::Dog { legs: 4, name: "rex".to_string() };
    show(dog, zoo::Animal::Ghost, Box::new(77));
    show(zoo::Animal::Bird(0.5), zoo::Animal::Ghost, Box::new(78));
}
