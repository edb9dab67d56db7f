package main

import (
	"fmt"
	"os"
)

//go:noinline
func work(n int, kind string) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * len(kind)
	}
	fmt.Println(n, kind, sum)
	return sum
}

func main() { work(len(os.Args)+4, "abc") }
