package shipping

import "testing"

func TestOne(t *testing.T) {
	if got := Price(200); got != 390 {
		t.Fatalf("Price(200) = %d", got)
	}
}

func TestTotal(t *testing.T) {
	for _, one := range []struct {
		name    string
		parcels []int
		want    int
	}{
		{"two small ones", []int{100, 499}, 780},
		{"the heaviest", []int{31500}, 1890},
	} {
		t.Run(one.name, func(t *testing.T) {
			got := Total(one.parcels, false)
			if got != one.want {
				t.Errorf("%d cents, want %d", got, one.want)
			}
		})
	}
}
