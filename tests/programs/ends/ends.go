package main

import (
	"fmt"
	"os"
)

var total int

func stop(code int) {
	why := code * 2
	_ = why
	os.Exit(code)
}

func main() {
	n := 0
	for i := 0; i < 5; i++ {
		total += i
		n++
	}
	if len(os.Args) > 1 {
		stop(3)
	}
	if n == 5 {
		fmt.Println(total)
		return
	}
	fmt.Println("other")
}
