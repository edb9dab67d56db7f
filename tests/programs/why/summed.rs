fn pick(values: &[i32], at: usize) -> i32 {
    let chosen = values[at];
    chosen
}
fn total_of(values: &[i32]) -> i32 {
    let mut total = 0;
    for at in 0..values.len() {
        let one = pick(values, at);
        total += one; // @sum
    }
    total // @end
}
fn main() {
    let values = vec![3, 4, 5];
    let sum = total_of(&values);
    let limit = sum - 12;
    println!("{}", 100 / limit);
}
