//! Reads recipes in which amounts carry units, and scales them.
use std::collections::HashMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
enum Unit {
    Gram,
    Millilitre,
    Piece,
}

#[derive(Debug, Clone)]
struct Amount {
    value: f64,
    unit: Unit,
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Gram => write!(out, "{} g", self.value),
            Unit::Millilitre => write!(out, "{} ml", self.value),
            Unit::Piece => write!(out, "{}", self.value),
        }
    }
}

struct Units {
    known: HashMap<&'static str, (Unit, f64)>,
}

impl Units {
    fn new() -> Self {
        let mut known = HashMap::new();
        known.insert("g", (Unit::Gram, 1.0));
        known.insert("kg", (Unit::Gram, 1000.0));
        known.insert("ml", (Unit::Millilitre, 1.0));
        known.insert("l", (Unit::Millilitre, 1000.0));
        known.insert("", (Unit::Piece, 1.0));
        Units { known }
    }

    fn amount(&self, number: &str, unit: &str) -> Amount {
        let value: f64 = number.trim().parse().unwrap_or(1.0);
        let (kind, factor) = self.known.get(unit).unwrap();
        Amount { value: value * factor, unit: kind.clone() }
    }
}

#[derive(Debug)]
struct Ingredient {
    name: String,
    amount: Amount,
}

fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .char_indices()
        .find(|(_, letter)| !letter.is_ascii_digit() && *letter != '.')
        .map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}

fn ingredient(units: &Units, line: &str) -> Ingredient {
    let (quantity, name) = line.split_once(' ').unwrap_or(("1", line));
    let (number, unit) = split_number(quantity);
    let amount = units.amount(number, unit);
    Ingredient { name: name.to_string(), amount }
}

fn scaled(recipe: &[Ingredient], by: f64) -> Vec<String> {
    recipe
        .iter()
        .map(|one| {
            let amount = Amount { value: one.amount.value * by, unit: one.amount.unit.clone() };
            format!("{:>8}  {}", amount.to_string(), one.name)
        })
        .collect()
}

const BREAD: &str = "500g flour
350ml water
10g salt
2tsp sugar
1 sachet of yeast";

fn main() {
    let units = Units::new();
    let recipe: Vec<Ingredient> = BREAD.lines().map(|line| ingredient(&units, line)).collect();
    for line in scaled(&recipe, 2.0) {
        println!("{line}");
    }
}
