// Counts until `running` is set to false, or for 120 seconds.
package main

import (
	"fmt"
	"time"
)

var counter uint64
var running = true

func count(until time.Time) {
	for running && time.Now().Before(until) {
		counter++ // @count
	}
}

func main() {
	fmt.Println("counting") // @start
	count(time.Now().Add(120 * time.Second))
	fmt.Println("done") // @done
}
