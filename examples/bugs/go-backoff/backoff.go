// A client that tries again and again, and waits longer each time: here with a clock of its own.
package main

import (
	"errors"
	"fmt"
	"time"
)

var errBusy = errors.New("the server is busy")

type policy struct {
	first  time.Duration
	factor int64
	most   time.Duration
	tries  int
}

type clock struct {
	now   time.Duration
	waits int
}

func (c *clock) sleep(wait time.Duration) {
	c.now += wait
	c.waits++
}

type server struct {
	busyUntil time.Duration
	asked     int
}

func (s *server) ask(at time.Duration) error {
	s.asked++
	if at < s.busyUntil {
		return errBusy
	}
	return nil
}

// delay is how long to wait before a try, counted from 0.
func (p policy) delay(try int) time.Duration {
	wait := p.first
	for i := 0; i < try; i++ {
		wait *= time.Duration(p.factor)
	}
	return p.capped(wait)
}

func (p policy) capped(wait time.Duration) time.Duration {
	if wait > p.most {
		return p.most
	}
	return wait
}

type result struct {
	tries int
	took  time.Duration
	err   error
}

func fetch(s *server, c *clock, p policy) result {
	start := c.now
	for try := 0; try < p.tries; try++ {
		if err := s.ask(c.now); err == nil {
			return result{try + 1, c.now - start, nil}
		}
		wait := p.delay(try)
		c.sleep(wait)
	}
	return result{p.tries, c.now - start, errBusy}
}

func main() {
	gentle := policy{first: 250 * time.Millisecond, factor: 4, most: 20 * time.Second, tries: 40}
	for _, busy := range []time.Duration{3 * time.Second, 30 * time.Second, 400 * time.Second} {
		s, c := &server{busyUntil: busy}, &clock{}
		got := fetch(s, c, gentle)
		if got.err != nil {
			fmt.Printf("busy for %v: gave up after %d tries and %v\n", busy, got.tries, got.took)
			continue
		}
		fmt.Printf("busy for %v: %d tries, %v\n", busy, got.tries, got.took)
	}
}
