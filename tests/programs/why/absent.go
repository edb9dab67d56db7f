package main

import "fmt"

type node struct {
	value int
	next  *node
}

func find(from *node, value int) *node {
	for from != nil {
		if from.value == value {
			return from
		}
		from = from.next
	}
	return nil
}

func main() {
	found := find(&node{1, nil}, 2)
	fmt.Println(found.value)
}
