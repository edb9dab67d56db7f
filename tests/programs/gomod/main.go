// A program of two packages, with tests in one of them.
package main

import (
	"fmt"

	"example.com/gomod/shapes"
)

func main() {
	square := shapes.Square{Side: side()} // @main
	fmt.Println("area", square.Area())
}
