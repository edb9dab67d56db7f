package compared

import (
	"reflect"
	"testing"
)

func TestList(t *testing.T) {
	got := List(4)
	want := []Item{{"item0", 0}, {"item1", 10}, {"item2", 20}, {"item3", 30}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
