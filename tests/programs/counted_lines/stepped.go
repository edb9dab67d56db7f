package main

import "fmt"

type cart struct{ sum int }

func (c *cart) add(price int) int {
	if price < 0 {
		panic("negative")
	}
	c.sum += price
	return c.sum
}

func safe(c *cart, price int) {
	defer func() { recover() }()
	c.add(price)
}

func main() {
	c := &cart{}
	fmt.Println(c.add(2))
	safe(c, -1)
	c.add(-5)
}
