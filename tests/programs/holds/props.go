// Objects keep the number of their properties that are sorted; a deletion forgets to lower it.
package main

import "fmt"

type object struct {
	lastSorted int
	names      []string
}

func newObject(names ...string) *object {
	o := &object{}
	for _, name := range names {
		o.add(name)
	}
	return o
}

func (o *object) add(name string) {
	o.names = append(o.names, name)
}

func (o *object) sort() {
	o.lastSorted = len(o.names)
}

func (o *object) remove(at int) {
	o.names = append(o.names[:at], o.names[at+1:]...)
	if at == 0 {
		return
	}
	o.lastSorted--
}

func (o *object) valid() bool {
	return o.lastSorted <= len(o.names)
}

type shelf struct {
	counts map[string]int
}

func (s *shelf) look() int {
	return len(s.counts)
}

func main() {
	here := &shelf{map[string]int{}}
	for i := 0; i < 3; i++ {
		if i == 2 {
			here.counts["jam"]++
		}
		here.look()
	}
	all := []*object{}
	for i := 0; i < 5; i++ {
		o := newObject("a", "b", "c")
		o.sort()
		all = append(all, o)
	}
	for i, o := range all {
		fmt.Println(o.valid())
		if i%2 == 1 {
			o.remove(i % 3)
		}
	}
	all[4].remove(0)
	for _, o := range all {
		fmt.Println(o.valid())
	}
}
