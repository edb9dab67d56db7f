package main

import "fmt"

type part struct {
	name   string
	weight float64
	count  int
}

func density(kind string) float64 {
	switch kind {
	case "oak":
		return 0.7
	case "pine":
		return 0 // @pine
	}
	return 1
}

func volume(w, h, d float64) float64 {
	return w * h * d
}

func margin(n int) int {
	if n > 3 {
		return 2 // @two
	}
	return -1
}

func build(kind string, w, h, d float64, n int) part {
	p := part{name: kind}
	p.weight = volume(w, h, d) * density(kind) // @weight
	p.count = n + margin(n) + margin(n+1)      // @count
	return p                                   // @built
}

func main() {
	parts := []part{build("oak", 1, 2, 3, 4), build("pine", 1, 1, 1, 3)} // @parts
	last := parts[len(parts)-1]                                          // @last
	fmt.Println(last.weight, parts[0].count)                             // @end
}
