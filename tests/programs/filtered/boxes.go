package main

import (
	"fmt"
	"os"
	"strconv"
)

type box struct{ n, total int }

func add(b *box, v int) {
	b.total += v
	b.n++
}

func twice(b *box, v int) {
	add(b, v)
	add(b, v)
}

func mark(i int) int {
	return i
}

func main() {
	step := 1
	if len(os.Args) > 1 {
		step, _ = strconv.Atoi(os.Args[1])
	}
	b := box{}
	for i := 0; i < 6; i++ {
		if i%2 == 1 {
			twice(&b, i*step)
		} else {
			add(&b, i*step)
		}
		if i == 3 {
			mark(i)
		}
	}
	fmt.Println(b.n, b.total)
}
