// Package compared has a function that gives one field of one element a wrong value.
package compared

import "fmt"

type Item struct {
	Name  string
	Price int
}

func List(count int) []Item {
	var items []Item
	for i := 0; i < count; i++ {
		one := Item{Name: fmt.Sprintf("item%d", i), Price: i * 10}
		if i == 2 {
			one.Price++ // @price
		}
		items = append(items, one)
	}
	return items
}
