// Containers of Rust, counted pointers in them, and methods that no debugger calls.
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

struct Parcel {
    name: String,
    price: i64,
    tags: Vec<String>,
}

fn total(parcels: &[Rc<Parcel>]) -> i64 {
    let mut sum = 0;
    for parcel in parcels {
        sum += parcel.price; // @sum
    }
    sum
}

fn made(name: &str, price: i64, tags: &[&str]) -> Rc<Parcel> {
    let tags = tags.iter().map(|tag| tag.to_string()).collect();
    Rc::new(Parcel { name: name.to_string(), price, tags })
}

fn main() {
    let parcels = vec![made("tea", 3, &["hot"]), made("ice", 5, &[]), made("jam", 7, &["red", "sweet"])];
    let by_name: HashMap<String, Rc<Parcel>> =
        parcels.iter().map(|parcel| (parcel.name.clone(), parcel.clone())).collect();
    let rates: BTreeMap<i32, f64> = [(2, 2.5), (7, 7.5)].into_iter().collect();
    let maybe = Some(4);
    let nothing: Option<i32> = None;
    let mut pair = ("a", 1);
    pair.1 += 1;
    let sum = total(&parcels);
    println!("{} {} {}", sum, by_name.len(), pair.1); // @here
    println!("{} {:?} {:?} {}", rates.len(), maybe, nothing, parcels[0].tags.len());
}
