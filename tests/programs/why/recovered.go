package main

import (
	"fmt"
	"os"
)

type node struct {
	key  int
	next *node
}

//go:noinline
func sum(n *node) int {
	s := 0
	for n != nil {
		s += n.key
		n = n.next
	}
	return s
}

//go:noinline
func average(n *node, k int) (r int, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("bad: %v", e) // @error
			r = -1                         // @minus
		}
	}()
	t := sum(n)
	r = t / (k - 1) // @panic
	return          // @return
}

func main() {
	h := &node{3, &node{key: 5}}
	a, err := average(h, 1) // @call
	b := a + 1              // @after
	fmt.Fprintln(os.Stdout, a, err, b)
}
