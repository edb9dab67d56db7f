package main

import "names/store"

type Item struct{ price int }

func (i Item) Less(other Item) bool {
	return i.price < other.price
}

func work(a int) int {
	return a + 1
}

func main() {
	tree := &store.Tree{}
	tree.Add(2)
	base := 3
	triple := func(x int) int {
		return x * base
	}
	println(Item{1}.Less(Item{2}), work(2), store.Run(3), triple(4))
}
