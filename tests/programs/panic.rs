// Panics: an index that is out of bounds, below values of Rust's usual kinds.
use std::collections::HashMap;

#[derive(Debug)]
struct Account {
    owner: String,
    balance: i64,
}

#[derive(Debug)]
enum Event {
    Deposit { amount: i64 },
    Withdraw(i64),
    Close,
}

fn apply(account: &mut Account, event: &Event) {
    match event {
        Event::Deposit { amount } => account.balance += amount, // @deposit
        Event::Withdraw(amount) => account.balance -= amount,
        Event::Close => account.balance = 0,
    }
}

fn pick(numbers: &[i32], index: usize) -> i32 {
    numbers[index] // @panic
}

fn main() {
    let numbers: Vec<i32> = (1..=5).map(|n| n * n).collect();
    let mut ages: HashMap<String, u32> = HashMap::new();
    ages.insert("ada".to_string(), 36);
    let some: Option<i32> = Some(7);
    let none: Option<i32> = None;
    let mut account = Account { owner: String::from("grace"), balance: 100 };
    for event in [Event::Deposit { amount: 50 }, Event::Withdraw(30), Event::Close] {
        apply(&mut account, &event);
        println!("{event:?} {}", account.balance); // @event
    }
    println!("{} {:?} {:?} {}", account.owner, some, none, ages.len()); // @ready
    let index = numbers.len() + 2;
    println!("{}", pick(&numbers, index)); // @pick
}
