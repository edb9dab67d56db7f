package main

import (
	"fmt"
	"os"
	"strconv"
)

func add(total int, text string) int {
	value, _ := strconv.Atoi(text)
	return total + value
}

func main() {
	total := 0
	for _, text := range os.Args[1:] {
		total = add(total, text)
	}
	fmt.Println(total)
}
