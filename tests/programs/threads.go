// Four goroutines that are all alive when one of them passes the marker.
package main

import (
	"fmt"
	"sync"
)

type job struct {
	name   string
	result int
}

var started, finish sync.WaitGroup

func work(one *job, number int) {
	started.Done()
	started.Wait()
	if number == 0 {
		one.result = 100 // @all_alive
	} else {
		one.result = number
	}
	finish.Done()
	finish.Wait() // @waits
}

func main() {
	names := []string{"reader", "parser", "writer", "logger"}
	jobs := make([]job, len(names))
	started.Add(len(names))
	finish.Add(len(names))
	var all sync.WaitGroup
	for number, name := range names {
		jobs[number].name = name
		all.Add(1)
		go func() {
			defer all.Done()
			work(&jobs[number], number)
		}()
	}
	all.Wait() // @join
	sum := 0
	for _, one := range jobs {
		sum += one.result
	}
	fmt.Println("sum", sum) // @joined
}
