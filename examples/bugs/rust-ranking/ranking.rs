// The ranking of a league: three points for a win, one for a draw; goals decide among equals.

use std::cmp::Ordering;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
struct Team {
    name: String,
    points: u8,
    scored: u8,
    conceded: u8,
    played: u8,
}

impl Team {
    fn difference(&self) -> u8 {
        self.scored.wrapping_sub(self.conceded)
    }

    fn enter(&mut self, scored: u8, conceded: u8) {
        self.played += 1;
        self.scored += scored;
        self.conceded += conceded;
        self.points += match scored.cmp(&conceded) {
            Ordering::Greater => 3,
            Ordering::Equal => 1,
            Ordering::Less => 0,
        };
    }
}

fn before(one: &Team, other: &Team) -> Ordering {
    let by_points = other.points.cmp(&one.points);
    let (mine, theirs) = (one.difference(), other.difference());
    let by_goals = theirs.cmp(&mine);
    by_points.then(by_goals).then(one.name.cmp(&other.name))
}

fn parse(line: &str) -> Option<(&str, u8, &str, u8)> {
    let mut words = line.split_whitespace();
    let home = words.next()?;
    let goals = words.next()?;
    let guest = words.next()?;
    let (left, right) = goals.split_once(':')?;
    Some((home, left.parse().ok()?, guest, right.parse().ok()?))
}

fn table(results: &[&str]) -> Vec<Team> {
    let mut teams: BTreeMap<String, Team> = BTreeMap::new();
    for line in results {
        let (home, left, guest, right) = match parse(line) {
            Some(result) => result,
            None => {
                eprintln!("not a result: {line}");
                continue;
            }
        };
        for (name, scored, conceded) in [(home, left, right), (guest, right, left)] {
            let team = teams.entry(name.to_string()).or_default();
            team.name = name.to_string();
            team.enter(scored, conceded);
        }
    }
    let mut ranked: Vec<Team> = teams.into_values().collect();
    ranked.sort_by(before);
    ranked
}

fn main() {
    let results = [
        "Adler 2:1 Blitz",
        "Corvus 0:0 Dynamo",
        "Adler 1:1 Corvus",
        "Blitz 4:2 Dynamo",
        "Dynamo 3:0 Adler",
        "Corvus 1:2 Blitz",
    ];
    let ranked = table(&results);
    for (place, team) in ranked.iter().enumerate() {
        println!(
            "{}. {:8} {} points {}:{}",
            place + 1, team.name, team.points, team.scored, team.conceded
        );
    }
    let second = &ranked[1];
    if second.name != "Dynamo" {
        println!("{} with {}:{} is before Dynamo", second.name, second.scored, second.conceded);
        std::process::exit(1);
    }
}
