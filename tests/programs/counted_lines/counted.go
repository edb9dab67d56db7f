package main

import (
	"os"
	"sync"

	"example.org/shop/price"
)

func main() {
	total := 0
	for _, kind := range os.Args[1:] {
		total += price.Of(kind)
	}
	if total > 3 {
		var kinds map[string]int
		kinds["x"] = total
	}
	for total == 3 {
	}
	if total == 2 {
		var lock sync.Mutex
		lock.Lock()
		lock.Lock()
	}
}
