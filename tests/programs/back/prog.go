package main

import "fmt"

func work(i, k int) int {
	total := i * k
	return total
}

func main() {
	sum := 0
	for i := 0; i < 5; i++ {
		sum += work(i, 3)
	}
	fmt.Println(sum)
}
