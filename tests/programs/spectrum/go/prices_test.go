package prices

import "testing"

func TestOne(t *testing.T) {
	if Total([]int{100}) != 100 {
		t.Fatal("wrong")
	}
}

func TestTwo(t *testing.T) {
	if Total([]int{100, 200}) != 300 {
		t.Fatal("wrong")
	}
}

func TestMany(t *testing.T) {
	found := Total([]int{100, 100, 100})
	if found != 270 {
		t.Fatalf("found %d", found)
	}
}
