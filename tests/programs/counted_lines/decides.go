package main

import (
	"fmt"
	"os"
)

func check(s string, n int) int {
	if s == "x" && n > 1 {
		fmt.Println("bad", n)
		os.Exit(3)
	}
	return len(s)
}

func main() {
	total := 0
	for i, a := range os.Args[1:] {
		total += check(a, i)
	}
	fmt.Println(total)
}
