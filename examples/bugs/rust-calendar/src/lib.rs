//! On which day of the year is a date?

#[derive(Debug, Clone, Copy)]
pub struct Date {
    pub year: u32,
    pub month: u32,
    pub day: u32,
}

const LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

pub fn is_leap(year: u32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub fn day_of_year(date: Date) -> u32 {
    let before: u32 = LENGTHS[..date.month as usize - 1].iter().sum();
    let leap = is_leap(date.year) && date.month >= 2;
    before + date.day + u32::from(leap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_day() {
        let date = Date { year: 2023, month: 1, day: 1 };
        assert_eq!(day_of_year(date), 1);
    }

    #[test]
    fn a_day_of_february() {
        let date = Date { year: 2024, month: 2, day: 10 };
        let found = day_of_year(date);
        assert_eq!(found, 41, "of {date:?}");
    }
}
