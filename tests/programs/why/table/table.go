package table

const factor = 2

func Digits(n int) int {
	count := 0
	for n > 0 {
		n /= 10
		count++
	}
	if count > 2 {
		return 9 // @wrong
	}
	return count
}

func Width(n int) int {
	digits := Digits(n)
	return digits * factor
}
