package main

import "fmt"

func add(total *int, count int) int {
	*total += count
	return *total
}

func main() {
	total := 0
	for i := 0; i < 4; i++ {
		now := add(&total, i)
		fmt.Println("round", i, now)
	}
}
