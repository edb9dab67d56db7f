/// Adds prices, and takes something off for many.
pub fn total(prices: &[i64]) -> i64 {
    let mut total = 0;
    for price in prices {
        total += price;
    }
    if prices.len() > 2 {
        total = discounted(total);
    }
    total
}

fn discounted(total: i64) -> i64 {
    let percent = 20;
    total - total * percent / 100
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn one_price() {
        assert_eq!(total(&[100]), 100);
    }

    #[test]
    fn two_prices() {
        assert_eq!(total(&[100, 200]), 300);
    }

    #[test]
    fn many_prices() {
        assert_eq!(total(&[100, 100, 100]), 270);
    }
}
