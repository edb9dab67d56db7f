// Counts the nodes of a list that a wrong insertion has made a ring.
package main

import "fmt"

type node struct {
	name string
	next *node
}

func insertBefore(at *node, added *node) {
	added.next = at
	at.next = added
}

func count(at *node) int {
	total := 0
	for at != nil {
		total++
		at = at.next
	}
	return total
}

func main() {
	second := &node{name: "b"}
	first := &node{name: "a"}
	first.next = second
	insertBefore(second, &node{name: "e"})
	fmt.Println(count(first))
}
