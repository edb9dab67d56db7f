// Go's locals are hidden by delve before the line of their declaration.
package main

import "fmt"

func work(count int) int {
	total := count + 1 // @entry
	text := "abc"
	for at := 0; at < count; at++ {
		square := at * at
		total += square
	}
	last := total + len(text) // @late
	return last
}

func main() {
	fmt.Println(work(4))
}
