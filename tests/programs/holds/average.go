// A divisor that is a parameter: its caller passes zero in the end.
package main

import "fmt"

func average(total, n int) int {
	return total / n // @check
}

func main() {
	sum := 0
	for k := 3; k >= 0; k-- {
		n := k * 2
		sum += average(100, n)
	}
	fmt.Println(sum)
}
