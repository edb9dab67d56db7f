// Sums squares in a loop and ends with status 3.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func calculate(i int) int {
	fmt.Printf("step %d\n", i) // @step
	return i * i               // @return
}

func sumTo(n int) int {
	sum := 0 // @start
	for i := 1; i <= n; i++ {
		sum += calculate(i) // @add
	}
	return sum // @done
}

func main() {
	n := 5
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	scale := 1                    // @main
	sum := sumTo(n)               // @call
	fmt.Println("sum", sum*scale) // @print
	os.Exit(3)                    // @exit
}
