// Values that come by functions in variables, sends on one line, and appended slices.
package main

import (
	"fmt"
	"sync"
)

type message struct{ id, value int }

type server struct{ port int }

type option func(*server)

func steps() []func(int) int {
	bonus := -30
	return []func(int) int{
		func(x int) int { return x + 1 },
		func(x int) int { return x * bonus }, // @closure
	}
}

func run(steps []func(int) int, x int) int {
	for _, s := range steps {
		x = s(x)
	}
	return x
}

func send(ch chan<- message, id int) {
	ch <- message{id, id * 10}
}

func spoil(ch chan<- message) { ch <- message{9, -999} } // @send

func lowest(ch <-chan message) int {
	low := 0
	for i := 0; i < 3; i++ {
		m := <-ch
		if m.value < low {
			low = m.value
		}
	}
	return low
}

func with(xs []int, v int) []int { return append(xs, v) } // @append

func port(p int) option { return func(s *server) { s.port = p } }

func guarded(n int) (result int, err error) {
	defer func() {
		if recover() != nil {
			result = -5 // @recover
		}
	}()
	if n > 2 {
		panic("bad")
	}
	return n, nil
}

func main() {
	out := run(steps(), 4)
	ch := make(chan message)
	var all sync.WaitGroup
	all.Add(1)
	go func() { defer all.Done(); send(ch, 1); spoil(ch); send(ch, 2) }()
	low := lowest(ch)
	all.Wait()
	base := append(make([]int, 0, 4), 1, 2)
	x := with(base, 30)
	y := with(base, -40) // @other
	s := &server{port: 80}
	port(-1)(s) // @port
	saved, _ := guarded(3)
	fmt.Println(out, low, x[2], y, s.port, saved) // @end
}
