package main

import "fmt"

func leaf(n int) int {
	half := n / 3
	return half
}

func low(n int) int {
	return leaf(n)
}

func high(n int) int {
	return leaf(n + 10)
}

func main() {
	total, mark := 0, 0
	for n := 0; n < 12; n++ {
		total += low(n)
		if n == 4 {
			mark = 1
		}
		if n%2 == 1 {
			total += high(n)
		}
	}
	fmt.Println(total, mark)
}
