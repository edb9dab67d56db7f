struct Repo { rows: Vec<i32> }
impl Repo {
    fn find(&self, at: usize) -> Option<&i32> {
        if at > 2 {
            return None;
        }
        self.rows.get(at)
    }
    fn parse(&self, text: &str) -> Result<Vec<i32>, String> {
        if text.len() > 3 {
            return Err(format!("too long: {}", text));
        }
        Ok(vec![1])
    }
    fn rate(&self, at: usize) -> Option<u16> {
        if at > 2 { None } else { Some(3) }
    }
}
fn main() {
    let repo = Repo { rows: vec![1, 2] };
    let at = repo.rows.len() + 1;
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "none" => println!("{}", repo.find(at).unwrap()),
        "err" => println!("{:?}", repo.parse("12345").expect("rows")),
        "chain" => {
            let rate = repo
                .rate(at)
                .unwrap();
            println!("{}", rate);
        }
        _ => {
            let rates = std::collections::HashMap::from([(1usize, 2)]);
            println!("{}", rates[&at]);
        }
    }
}
