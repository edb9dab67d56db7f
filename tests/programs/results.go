package main

import (
	"errors"
	"fmt"
	"os"
)

type P struct {
	X    int
	Name string
}
type Code int

func (c Code) Error() string { return "code" }

type S struct{ A, B int }

func both(n int) (q int, rest string, err error) {
	q = n * 2
	rest = fmt.Sprint(n)
	err = errors.New("bad")
	return
}
func pt(n int) (*P, error) { return &P{n, "pt"}, nil }
func fl(n int) (float64, float32, bool) { return float64(n) + 0.5, 1.25, n > 1 }
func sl(n int) ([]int, []P) { return []int{n, 2}, []P{{1, "a"}} }
func mp(n int) (map[string]int, error) { return map[string]int{"a": n}, Code(7) }
func an(n int) (any, error) {
	_, err := os.Open("/nonexistent")
	return n, err
}
func st(n int) (S, error) { return S{n, 2}, nil }
func nl() (*P, []int, error) { return nil, nil, nil }
func gn[K any](n K) []K { return []K{n} }
func as() any { return "text" }

func main() {
	a, b, c := both(4)
	p, e := pt(3)
	f, g, h := fl(2)
	i, j := sl(5)
	k, l := mp(6)
	m, n := an(7)
	o, q := st(8)
	r, s, t := nl()
	v := gn("only")
	u := as()
	fmt.Println(v, a, b, c, p, e, f, g, h, i, j, k, l, m, n, o, q, r, s, t, u)
}
