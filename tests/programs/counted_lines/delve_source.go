// Package tree has trees.
package tree

import "fmt"

type Tree struct{ root *node }

func New(size int, names ...string) *Tree {
	return nil
}

func (t *Tree) Add(key string, value any) (added bool, err error) {
	func() {
		fmt.Println(key)
	}()
	return true, nil
}

func (n node) Len() int { return 1 }

func Map[K comparable, V any](from map[K]V, by func(K, V) (bool, error)) (
	[]K, error,
) {
	return nil, nil
}

func nothing(int, string) {
}
