// Values that come by functions in variables, sends on one line, and appended slices.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
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

type item struct{ id, count int }

func build(id int) item {
	one := item{id: id}
	one.count = -6 // @count
	return one
}

var level atomic.Int64

func store(items []item) { level.Store(int64(items[0].count)) }

func adder(base int) func(int) int {
	calls := 0
	return func(n int) int {
		calls++
		return n + base + calls // @inner
	}
}

func main() {
	items := []item{build(7)}
	store(items)
	var numbers [4]int
	numbers[2] = int(level.Load())
	copied := numbers
	numbers[2] = 0
	numbers[1] = 5
	picked := copied[2]
	number := &numbers
	number[1] = picked * 2 // @bent
	bent := numbers[1]
	add := adder(10)
	add(1)
	added := add(2)
	double := func(n int) int {
		return n * 2
	}
	minus := func(n int) int {
		return n - 100
	}
	doubled := double(added)
	lowered := minus(4)
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
	fmt.Println(picked, bent, doubled, lowered, out, low, x[2], y, s.port, saved) // @end
}
