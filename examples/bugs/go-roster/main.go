// Who is on duty: people are asked in turn, and who is away is replaced by a substitute.
package main

import (
	"fmt"
	"os"
	"strings"

	"example.org/roster/duty"
)

func main() {
	plan := duty.New("ann", "ben", "cleo", "dan")
	for _, word := range os.Args[1:] {
		name, days, _ := strings.Cut(word, ":")
		plan.Away(name, strings.Split(days, ",")...)
	}
	for _, day := range []string{"mon", "tue", "wed", "thu", "fri"} {
		fmt.Println(day, plan.Next(day))
	}
}
