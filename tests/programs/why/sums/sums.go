package sums

func Total(list []int, extra int) int {
	sum := extra
	for _, one := range list {
		sum += one
	}
	return sum
}
