enum Cell {
    Text(String),
    Number(f64),
    Empty,
    Pair { key: u8, value: i64 },
}

fn main() {
    let text = Cell::Text("b".to_string());
    let number = Cell::Number(2.5);
    let empty = Cell::Empty;
    let pair = Cell::Pair { key: 120, value: 7 };
    let all = [&text, &number, &empty, &pair];
    println!("{}", all.len()); // @here
    for one in all {
        match one {
            Cell::Text(text) => println!("{text}"),
            Cell::Number(number) => println!("{number}"),
            Cell::Empty => println!("empty"),
            Cell::Pair { key, value } => println!("{key}={value}"),
        }
    }
}
