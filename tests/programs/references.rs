struct Bag {
    items: Vec<i32>,
    name: String,
}

fn look(values: &Vec<i32>, array: &[i32; 3], slice: &[i32], bag: &Bag, n: &i32) -> i32 {
    let boxed = Box::new(vec![7, 8, 9]);
    values[1] + array[1] + slice[1] + bag.items[1] + *n + boxed[1]
}

fn main() {
    let v = vec![1, 2, 3];
    let bag = Bag { items: vec![4, 5, 6], name: "x".to_string() };
    println!("{} {}", look(&v, &[10, 20, 30], &v[..], &bag, &5), bag.name);
}
