package main

import (
	"os"
	"os/exec"

	"example.org/shop/price"
)

type Shop struct{}

func (s *Shop) Open(kind string) int {
	if kind == "free" {
		return 0
	}
	sum := 0
	for i := 0; i < 3; i++ {
		sum += price.Of(kind)
	}
	return sum
}

func (s Shop) Close() int { return price.Of("late") }

func report(s *Shop) int {
	all := []int{
		price.Of("r"),
	}
	done := make(chan bool)
	go func() {
		price.Of("beside")
		close(done)
	}()
	<-done
	return s.Open("free") + len(all)
}

func never() {}

func main() {
	what := os.Args[1]
	if what == "child" {
		exec.Command(os.Args[0], "").Run()
		return
	}
	shop := &Shop{}
	price.Of("before")
	shop.Open("abc")
	report(shop)
	price.Of("between")
	shop.Close()
	price.Of("after")
	if what == "panics" {
		var none map[string]int
		none["a"] = price.Of("last")
		never()
	}
}
