// A field of a struct that is returned by copies, and read through a method.
#[derive(Clone, Copy)]
struct Count(i32);

#[derive(Clone, Copy)]
struct Span {
    years: Count,
    months: Count,
    days: Count,
    sign: i32,
}

impl Span {
    fn new() -> Span {
        Span { years: Count(0), months: Count(0), days: Count(0), sign: 1 }
    }

    fn with_months(self, months: Count) -> Span {
        let span = Span { months, ..self };
        span
    }

    fn with_days(self, days: Count) -> Span {
        let span = Span { days, ..self }; // @field
        span
    }

    fn read_days(&self) -> Count {
        self.days // @read
    }

    fn get_months(&self) -> i32 {
        self.months.0 * self.sign
    }

    fn get_days(&self) -> i32 {
        self.read_days().0
    }
}

fn days_in_month(month: i32) -> i32 {
    28 + month
}

fn span_between(first: i32, last: i32) -> Result<Span, String> {
    let days = Count(last - first + days_in_month(3)); // @computed
    let months = Count(1);
    if last == 0 {
        return Err("no day".to_string());
    }
    Ok(Span::new().with_months(months).with_days(days)) // @built
}

fn main() {
    let span = span_between(15, 1).unwrap(); // @made
    let months = span.get_months();
    let days = span.get_days(); // @got
    println!("{months} {days} {}", span.years.0); // @show
}
