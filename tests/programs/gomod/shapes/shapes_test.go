package shapes

import (
	"os"
	"testing"
)

func TestArea(t *testing.T) {
	if got := (Square{Side: 3}).Area(); got != 9 { // @test
		t.Errorf("area %d", got)
	}
}

func TestRunsInItsOwnFolder(t *testing.T) {
	if _, err := os.Stat("shapes.go"); err != nil {
		t.Fatal(err) // @folder
	}
}
