// Values of many shapes.
package main

import (
	"fmt"
	"strings"
)

type point struct {
	X, Y int
}

type shape struct {
	name    string
	corner  point
	outline []point
}

type node struct {
	value int
	next  *node
}

type colour uint8

const (
	red colour = iota
	green
	blue
)

type sized interface {
	area(scale float64) float64
}

func (s shape) area(scale float64) float64 {
	return scale * float64(len(s.outline)) // @area
}

func (p *point) move(by int) {
	p.X += by // @move
	p.Y += by
}

func largest[T int | float64](a, b T) T {
	if a > b {
		return a // @generic
	}
	return b
}

func divide(a, b int) (quotient, rest int) {
	return a / b, a % b // @divide
}

var counter = 0

func bump(by int) int {
	counter += by // @bump
	return counter
}

func main() {
	numbers := make([]int, 200)
	for i := range numbers {
		numbers[i] = i * i
	}
	ages := map[string]int{"ada": 36, "grace": 45, "linus": 21}
	squares := map[int]int{}
	for i := range 150 {
		squares[i] = i * i
	}
	text := "hello"
	longText := strings.Repeat("y", 10_000) + "end"
	quoted := "a \"quoted\"\tword\n"
	letters := []byte("bytes")
	one := shape{"triangle", point{1, 2}, []point{{0, 0}, {4, 0}, {0, 3}}}
	owned := &point{7, 8}
	var nothing *point
	var plain sized
	var held sized = one
	ring := &node{value: 1}
	ring.next = ring
	kind := green
	var small uint8 = 255
	ratio := 0.1
	done := false
	var failure error = fmt.Errorf("outer: %w", fmt.Errorf("inner"))
	var anything any = one
	queue := make(chan int, 3)
	queue <- 5
	fixed := [3]string{"a", "b", "c"}
	factor := 3
	scale := func(n int) int {
		return n * factor // @closure
	}
	scaled := scale(14)
	owned.move(1)
	top := largest(scaled, 7)
	quotient, rest := divide(17, 5) // @before
	for turn := range 3 {
		bump(turn + 1) // @turn
	}
	fmt.Println(numbers[3], ages["ada"], squares[7], text, len(longText), quoted, letters, one) // @ready
	fmt.Println(owned, nothing, plain, held, ring.value, kind, small, ratio, done, failure, anything)
	fmt.Println(len(queue), fixed, scaled, top, quotient, rest, counter)
}
