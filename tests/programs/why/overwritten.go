package main

import "os"

type T struct{ n, m int }

func plain() int {
	base := []int{1, 2, 3, 4}
	head := base[:2]
	head = append(head, 0) // @plain
	return 100 / base[2]
}

func structs() int {
	list := []T{{1, 2}, {3, 4}}
	first := list[:1]
	first = append(first, T{0, 0}) // @structs
	return 100 / list[1].n
}

func pointer() int {
	t := T{5, 6}
	p := &t
	p.n = 0 // @pointer
	return 100 / t.n
}

func copied() int {
	a := []int{1, 2, 3}
	b := a[1:]
	copy(b, []int{0, 9}) // @copied
	return 100 / a[1]
}

func rates() map[string]int {
	return map[string]int{"a": 3} // @lookup
}

func lookup() int {
	key := "b"
	table := rates()
	rate := table[key]
	return 100 / rate
}

func main() {
	switch os.Args[1] {
	case "plain":
		plain()
	case "structs":
		structs()
	case "pointer":
		pointer()
	case "copied":
		copied()
	case "lookup":
		lookup()
	}
}
