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
	go func() {
		for i := 0; ; i++ {
			counts[i%9] = i // @first
		}
	}()
	for i := 0; ; i++ {
		counts[i%7] = i // @second
	}
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
