use std::sync::{Arc, Barrier, Mutex};
use std::thread;

struct Stock {
    items: Mutex<u32>,
    orders: Mutex<u32>,
    both: Barrier,
}

fn ship(stock: &Stock) {
    let mut items = stock.items.lock().unwrap();
    stock.both.wait();
    let mut orders = stock.orders.lock().unwrap();
    *items -= 1;
    *orders -= 1;
}

fn take(stock: &Stock) {
    let mut orders = stock.orders.lock().unwrap();
    stock.both.wait();
    let mut items = stock.items.lock().unwrap();
    *items += 1;
    *orders += 1;
}

fn main() {
    let stock = Arc::new(Stock {
        items: Mutex::new(1),
        orders: Mutex::new(1),
        both: Barrier::new(2),
    });
    let other = stock.clone();
    let shipping = thread::spawn(move || ship(&other));
    take(&stock);
    shipping.join().unwrap();
}
