// An address of Go's that is text, as a number and as an unsafe pointer.
package main

import (
	"fmt"
	"unsafe"
)

type node struct {
	key  int
	next *node
}

var table [4]node

func use(raw unsafe.Pointer, first *node, word uintptr, local *int) int {
	object := &table[1]
	return first.key + *local + object.key + int(word) // @here
}

func main() {
	word := uintptr(0x302f617461641648)
	value := 7
	fmt.Println(use(unsafe.Pointer(word), &node{key: 1}, word, &value))
}
