// A value that is copied through a struct, a vector and returns.
struct Order {
    total: u64,
    count: u32,
}

fn read_price() -> u64 {
    let price: u64 = 777_777; // @origin
    price
}

fn make_order(price: u64) -> Order {
    let order = Order { total: price, count: 2 }; // @order
    order
}

fn sum_up(orders: &[Order]) -> u64 {
    let mut sum: u64 = 0;
    for order in orders {
        sum += order.total; // @sum
    }
    sum
}

fn show(total: u64, count: u32) {
    println!("{} {}", total, count); // @show
}

fn main() {
    let price = read_price();
    let mut orders = Vec::new();
    orders.push(make_order(price)); // @push
    let total = sum_up(&orders); // @total
    show(total, orders[0].count);
}
