// All that an expression can name in Rust, at one line.
static LIMIT: u32 = 99;

struct Point {
    x: i32,
    y: f64,
}

struct Track {
    name: String,
    notes: Vec<i16>,
    at: Point,
    pair: (u8, i64),
}

fn work(track: &Track, n: i64, word: &str, slice: &[u32], number: &i32) -> i64 {
    let letter = 'é';
    let yes = true;
    let boxed = Box::new(Point { x: 5, y: 0.25 });
    let array = [10u8, 20, 30];
    let words = vec![String::from("one"), String::from("two")];
    println!("{} {} {} {}", letter, yes, boxed.x, array[1]); // @here
    if std::env::args().len() > 1 {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
    n + track.notes.len() as i64 + word.len() as i64 + slice.len() as i64 + *number as i64
        + words.len() as i64 + LIMIT as i64
}

fn main() {
    let track = Track {
        name: String::from("eve"),
        notes: vec![1, -2, 3],
        at: Point { x: -7, y: 1.5 },
        pair: (1, -2),
    };
    let total = work(&track, -9, "grüße", &[7, 8], &42);
    println!("{} {} {} {}", total, track.name, track.at.y, track.pair.0 as f64 + track.at.x as f64);
}
