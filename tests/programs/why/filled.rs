fn fill(rows: &mut Vec<i32>) {
    rows[1] = 7; // @fill
}

fn main() {
    let mut rows = vec![1, 2, 3];
    fill(&mut rows);
    let second = rows[1]; // @second
    println!("{second}"); // @end
}
