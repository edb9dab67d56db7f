package table

import "testing"

func TestWidth(t *testing.T) {
	numbers := []int{}
	for n := 0; n < 120; n++ {
		numbers = append(numbers, n)
	}
	for _, n := range numbers {
		var width, extra int
		want := 2 * len([]rune("12"))
		if n < 10 {
			want = 2
		}
		extra = Width(n) // @extra
		width += extra
		if n > 0 && width != want {
			t.Errorf("%d: %d", n, width) // @failed
		}
	}
}
