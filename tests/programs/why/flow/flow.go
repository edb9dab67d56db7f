// Values that pass through parameters, returns, fields, elements, closures and channels.
package main

import (
	"fmt"
	"os"
	"sync"
)

type Order struct {
	Limit int
	Items []int
	Tags  map[string]int
	Next  *Order
}

type Shape interface{ Size(scale int) int }

type Box struct{ side int }

var rate = 5 // @rate

func (b *Box) Size(scale int) int { // @size
	size := b.side * scale
	return size // @sized
}

func (b *Box) grow(by int) {
	b.side = by // @grow
}

func pick(a int, b int) int {
	if a > b {
		return a // @pick
	}
	return b
}

func newOrder(limit int) *Order {
	order := &Order{Limit: limit, Tags: map[string]int{"a": 3}} // @made
	return order                                                // @newOrder
}

func fill(order *Order, count int) {
	for i := 0; i < count; i++ {
		order.Items = append(order.Items, i*i) // @append
	}
	order.Items[2] = 77     // @element
	order.Tags["b"] = count // @key
}

func two(text string) (int, error) {
	if text == "" {
		return 0, os.ErrInvalid
	}
	return 19, nil // @two
}

func check(order *Order, value int) int {
	limit := order.Limit                                       // @limit
	fmt.Println(limit, order.Items[2], order.Tags["b"], value) // @check
	return value
}

func worker(in chan int, out chan int) {
	got := <-in // @got
	out <- got  // @out
}

func sum(rates []int) int {
	total := 0
	for _, one := range rates {
		total += one // @sum
	}
	return total
}

func run(seed int) int {
	chosen := pick(seed, 12) // @chosen
	order := newOrder(chosen)
	fill(order, 5) // @fill
	in, out := make(chan int), make(chan int)
	go worker(in, out)
	in <- 21      // @sent
	back := <-out // @back
	count := 0
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		count = back // @closure
	}()
	wait.Wait()
	return check(order, count) // @run
}

func main() {
	result := run(40) // @main
	box := &Box{side: 2}
	box.grow(9) // @grown
	var shape Shape = box
	size := shape.Size(result)
	parsed, err := two("x") // @parsed
	copied := Order{Limit: parsed}
	other := copied    // @copied
	rate = other.Limit // @global
	arg := len(os.Args)
	fmt.Println(size, err, other.Limit, rate, sum([]int{1, 2}), arg) // @end
	var last *Order
	if result > 3 {
		last = other.Next // @nil
	}
	fmt.Println(last.Limit) // @crash
}
