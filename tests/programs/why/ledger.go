// A value that is copied through a struct, a slice and returns.
package main

import "fmt"

type order struct {
	total int
	count int
}

var last int

func readPrice() int {
	price := 777777 // @origin
	return price
}

func show(total int) {
	last = total                // @last
	fmt.Println(total, last) // @show
}

func main() {
	price := readPrice()
	orders := []order{{price, 2}}
	total := orders[0].total // @total
	show(total)
}
