package store

type Tree struct{ N int }

func (t *Tree) Add(k int) int {
	t.N += k
	return t.N
}

func work(a int) int {
	return a + 10
}

func Run(a int) int {
	return work(a)
}
