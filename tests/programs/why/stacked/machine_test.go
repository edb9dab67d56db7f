package stacked

import "testing"

func TestSum(t *testing.T) {
	if found := Calculate("2", "3", "+"); found != 5 {
		t.Fatalf("found %d", found)
	}
}

func TestDifference(t *testing.T) {
	found := Calculate("1", "7", "3", "-", "+")
	if found != 5 {
		t.Fatalf("found %d, want 5", found)
	}
}
