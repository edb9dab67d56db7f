struct Bag {
    items: Vec<i32>,
    name: String,
}

enum Step {
    Rest,
    Ride(String, u32),
}

fn look(values: &Vec<i32>, array: &[i32; 3], slice: &[i32], bag: &Bag, n: &i32, step: &Step) -> i32 {
    let lines = "first\n\"second\"";
    let boxed = Box::new(vec![7, 8, 9]);
    let stops = match step { Step::Ride(line, stops) => line.len() as i32 * *stops as i32, Step::Rest => 0 };
    values[1] + array[1] + slice[1] + bag.items[1] + *n + boxed[1] + stops - lines.len() as i32 // @sum
}

fn main() {
    let v = vec![1, 2, 3];
    let bag = Bag { items: vec![4, 5, 6], name: "x".to_string() };
    let ride = Step::Ride("U5".to_string(), 4);
    println!("{} {}", look(&v, &[10, 20, 30], &v[..], &bag, &5, &ride), bag.name);
}
