// Writes two lines to its standard output and two to its standard error.
package main

import (
	"fmt"
	"os"
)

func main() {
	for n := 1; n <= 2; n++ {
		fmt.Println("stdout line", n)
		fmt.Fprintln(os.Stderr, "stderr line", n) // @line
	}
}
