// An account's balance stays above its limit, but a fee is taken without asking.
struct Account {
    balance: i64,
    limit: i64,
}

impl Account {
    fn new(balance: i64) -> Account {
        Account { balance, limit: 0 }
    }

    fn take(&mut self, amount: i64) -> bool {
        if self.balance - amount < self.limit {
            return false;
        }
        self.lower(amount);
        true
    }

    fn lower(&mut self, amount: i64) {
        self.balance -= amount;
    }
}

fn charge(accounts: &mut Vec<Account>, fee: i64) {
    for one in accounts.iter_mut() {
        one.lower(fee);
    }
}

fn report(account: &Account) -> i64 {
    let left = account.balance;
    left - account.limit
}

fn age(days: &mut Vec<i32>) {
    for i in 0..days.len() {
        days[i] += 1;
        if i == 2 {
            days[0] = -9;
        }
    }
}

fn review(days: &Vec<i32>) -> usize {
    days.len()
}

fn main() {
    let mut days = vec![1, 2, 3, 4];
    review(&days);
    age(&mut days);
    review(&days);
    let mut accounts: Vec<Account> = (1..7).map(|n| Account::new(n * 10)).collect();
    for one in accounts.iter_mut() {
        one.take(7);
    }
    for one in accounts.iter() {
        println!("{}", report(one));
    }
    charge(&mut accounts, 5);
    for one in accounts.iter() {
        println!("{}", report(one));
    }
}
