package prices

// Total adds prices, and takes something off for many.
func Total(prices []int) int {
	total := 0
	for _, price := range prices {
		total += price
	}
	if len(prices) > 2 {
		total = discounted(total)
	}
	return total
}

func discounted(total int) int {
	percent := 20
	return total - total*percent/100
}
