// A value in a cell that two counted references share, and an item of a borrowed vector.
use std::cell::{Cell, RefCell};
use std::rc::Rc;

struct Account {
    balance: Cell<i64>,
    log: RefCell<Vec<i64>>,
}

fn withdraw(account: &Rc<Account>, amount: i64) {
    account.balance.set(account.balance.get() - amount); // @set
    account.log.borrow_mut().push(amount); // @push
}

fn main() {
    let first = Rc::new(Account { balance: Cell::new(100), log: RefCell::new(Vec::new()) });
    let second = Rc::clone(&first);
    withdraw(&first, 30);
    withdraw(&second, 90); // @second
    let last = first.log.borrow()[1];
    println!("{}", last);
    if first.balance.get() < 0 {
        panic!("overdrawn"); // @panic
    }
}
