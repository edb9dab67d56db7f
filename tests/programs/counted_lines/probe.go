package main

import (
	"fmt"
	"os"
	"strconv"
)

var names = []string{"a, b", "q\"t\n|x", "{br}"}

func worth(at int, name string) int {
	result := at * 3
	if name[0] == 'q' {
		result++
	}
	return result
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	total := 0
	for at := 0; at < count; at++ {
		total += worth(at, names[at%3])
	}
	fmt.Println("total", total)
	os.Exit(3)
}
