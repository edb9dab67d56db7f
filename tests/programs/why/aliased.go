// Writes through another slice with the same array, and a cache that returns another key's value.
package main

import (
	"fmt"
	"strings"
)

type row struct {
	id    int
	price int
}

type stack struct{ rows []row }

func (s *stack) push(one row) {
	s.rows = append(s.rows, one) // @pushed
}

func extend(values []int, extra int) []int {
	return append(values, extra) // @appended
}

func filter(values []int) []int {
	kept := values[:0]
	for _, one := range values {
		if one%2 == 0 {
			kept = append(kept, one) // @kept
		}
	}
	return kept
}

type cache struct{ rows map[string]*row }

func (c *cache) get(name string) *row {
	key := strings.ToLower(name)
	if known, ok := c.rows[key]; ok {
		return known
	}
	made := &row{len(name), len(name) * 10}
	c.rows[key] = made // @stored
	return made
}

func main() {
	base := []int{1, 2, 3, 4}
	grown := extend(base[:1], 77) // @given

	s := &stack{rows: make([]row, 0, 4)}
	s.push(row{1, 10})
	s.push(row{2, 20})
	both := s.rows[:2] // @both
	s.rows = s.rows[:1]
	s.push(row{3, 30}) // @third

	values := []int{1, 8, 3, 6}
	even := filter(values)

	copied := make([]int, 4)
	source := []int{7, 9}    // @source
	copy(copied[1:], source) // @copied

	c := &cache{rows: map[string]*row{}}
	c.get("Ab") // @first
	found := c.get("aB")
	fmt.Println(grown, base[1], both[1].price, even, values[0], copied[2], found.price) // @show
}
