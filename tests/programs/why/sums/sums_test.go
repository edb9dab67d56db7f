package sums

import "testing"

func TestTotal(t *testing.T) {
	got := Total([]int{1, 2}, 4)
	if got != 3 {
		t.Errorf("got %d", got)
	}
}
