// A pointer into a vector that has moved since: its block has a value that was read from a file.
fn stored(byte: i64) -> Box<[i64; 4]> {
    let mut room = Box::new([0i64; 4]); // @allocated
    room[0] = byte; // @stored
    room
}

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let data = std::fs::read(path).unwrap(); // @read
    let mut numbers = vec![1i64, 2, 3, 4];
    let first: *const i64 = &numbers[0];
    numbers.push(5); // @moved
    let byte = data[3] as i64;
    let room = stored(byte);
    let stale = unsafe { *first }; // @stale
    println!("{} {}", stale, room[1]); // @end
}
