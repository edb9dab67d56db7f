// Small bugs, chosen by the first argument.
package main

import (
	"fmt"
	"os"
)

func rates() map[string]map[string]int {
	return map[string]map[string]int{"a": {"x": 1}}
}

func main() {
	handlers := map[string]func(int) int{"get": func(i int) int { return i }}
	switch os.Args[1] {
	case "inner":
		rates()["c"]["x"] = 5
	case "function":
		fmt.Println(handlers["put"](3))
	}
}
