package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type store struct {
	mu    sync.Mutex
	count int
}

func (s *store) publish(out chan int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	out <- s.count
}

func (s *store) read() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func worker(jobs chan int, results chan int) {
	for job := range jobs {
		results <- job
	}
}

func beat() {
	for {
		time.Sleep(time.Second)
	}
}

func locked() {
	s := &store{}
	out := make(chan int)
	go s.publish(out)
	time.Sleep(100 * time.Millisecond)
	fmt.Println(s.read())
	fmt.Println(<-out)
}

func piped() {
	jobs := make(chan int)
	results := make(chan int)
	go worker(jobs, results)
	for job := 0; job < 5; job++ {
		jobs <- job
	}
	fmt.Println(<-results)
}

func main() {
	go beat()
	if os.Args[1] == "locked" {
		locked()
	}
	piped()
}
