// Small bugs, chosen by the first argument.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type account struct {
	mu      sync.Mutex
	balance int
}

func transfer(from, to *account) {
	from.mu.Lock() // @locked
	defer from.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	to.mu.Lock() // @crossed
	defer to.mu.Unlock()
	from.balance--
	to.balance++
}

func crossed() {
	a, b := &account{}, &account{}
	var all sync.WaitGroup
	all.Add(2)
	go func() { defer all.Done(); transfer(a, b) }()
	go func() { defer all.Done(); transfer(b, a) }()
	all.Wait()
}

func maps() {
	counts := map[int]int{}
	// Each loop is one line, so that a goroutine is at no other one.
	go func() {
		i := 0
	again:
		counts[i%9] = i; i++; goto again // @first
	}()
	i := 0
again:
	counts[i%7] = i; i++; goto again // @second
}

func rates() map[string]map[string]int {
	return map[string]map[string]int{"a": {"x": 1}}
}

func main() {
	handlers := map[string]func(int) int{"get": func(i int) int { return i }}
	switch os.Args[1] {
	case "inner":
		rates()["c"]["x"] = 5
	case "crossed":
		crossed()
	case "maps":
		maps()
	case "function":
		fmt.Println(handlers["put"](3))
	}
}
