// Four goroutines that come to one line thousands of times a second, for ever.
package main

import (
	"fmt"
	"time"
)

var counts [4]int

func work(at int) {
	for {
		counts[at]++ // @hot
		time.Sleep(50 * time.Microsecond)
	}
}

func main() {
	fmt.Println("here")
	for at := range counts[1:] {
		go work(at + 1)
	}
	work(0)
}
