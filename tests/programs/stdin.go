// Echoes its input in upper case, line by line, until the end of the input.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	count := 0
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count++
		fmt.Println(strings.ToUpper(lines.Text())) // @read
	}
	fmt.Println(count, "lines") // @eof
}
