package shop

type Tree struct{ items []int }

func (t *Tree) Add(item int) int {
	t.items = append(t.items, item)
	return len(t.items)
}

func counter(start int) func(int) int {
	add := func(count int) int {
		start += count
		return start
	}
	go func() {
		start = 0
	}()
	return add
}
