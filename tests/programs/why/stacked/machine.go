// Package stacked counts with a stack, as a calculator does.
package stacked

import "strconv"

type machine struct {
	stack []int
}

func (m *machine) push(value int) {
	m.stack = append(m.stack, value) // @push
}

func (m *machine) pop() int {
	value := m.stack[len(m.stack)-1] // @pop
	m.stack = m.stack[:len(m.stack)-1]
	return value
}

// Calculate returns the value of words in reverse Polish notation.
func Calculate(words ...string) int {
	m := &machine{}
	for _, word := range words {
		switch word {
		case "+":
			right, left := m.pop(), m.pop()
			m.push(left + right)
		case "-":
			right, left := m.pop(), m.pop()
			m.push(right - left) // @wrong
		default:
			number, _ := strconv.Atoi(word)
			m.push(number)
		}
	}
	return m.pop()
}
