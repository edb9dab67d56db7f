// A check that fails because one field of one element is wrong.
#[derive(Debug, PartialEq, Clone)]
struct Item {
    name: String,
    price: i64,
}

fn list_items(count: i64) -> Vec<Item> {
    let mut items = Vec::new();
    for i in 0..count {
        items.push(Item { name: format!("item{}", i), price: i * 10 });
    }
    items[2].price += 1; // @price
    items
}

fn main() {
    let which = std::env::args().count();
    if which > 0 {
        let got = list_items(4);
        let mut want = got.clone();
        want[2].price = 20;
        assert_eq!(got, want);
    }
}
