// Counts requests by route and status, and merges what several workers counted.
package main

import (
	"fmt"
	"sort"
	"strings"
)

type Counter struct {
	byStatus map[int]int
	total    int
}

type Registry struct {
	name     string
	counters map[string]*Counter
}

func NewRegistry(name string) *Registry {
	return &Registry{name: name, counters: make(map[string]*Counter)}
}

func (r *Registry) counter(route string) *Counter {
	found, ok := r.counters[route]
	if !ok {
		found = &Counter{byStatus: make(map[int]int)}
		r.counters[route] = found
	}
	return found
}

func (c *Counter) add(status int, count int) {
	c.byStatus[status] += count
	c.total += count
}

func (r *Registry) Observe(route string, status int) {
	r.counter(route).add(status, 1)
}

// Skip counts requests that were refused before they were routed.
func (r *Registry) Skip(route string) {
	found, ok := r.counters[route]
	if !ok {
		found = new(Counter)
		r.counters[route] = found
	}
	found.total++
}

func (r *Registry) Merge(other *Registry) {
	for route, theirs := range other.counters {
		ours := r.counter(route)
		for status, count := range theirs.byStatus {
			ours.add(status, count)
		}
	}
}

func (r *Registry) Report() string {
	routes := make([]string, 0, len(r.counters))
	for route := range r.counters {
		routes = append(routes, route)
	}
	sort.Strings(routes)
	var out strings.Builder
	for _, route := range routes {
		fmt.Fprintf(&out, "%-10s %d\n", route, r.counters[route].total)
	}
	return out.String()
}

func worker(number int) *Registry {
	registry := NewRegistry(fmt.Sprintf("worker %d", number))
	registry.Observe("/", 200)
	registry.Observe("/orders", 200+number)
	if number == 2 {
		registry.Observe("/admin", 403)
	}
	return registry
}

func main() {
	all := NewRegistry("all")
	all.Skip("/admin")
	for number := 0; number < 4; number++ {
		all.Merge(worker(number))
		fmt.Printf("merged %d\n", number)
	}
	fmt.Print(all.Report())
}
