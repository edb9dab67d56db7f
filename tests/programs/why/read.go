package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	data, _ := os.ReadFile(os.Args[1])
	text := strings.TrimSpace(string(data))
	fmt.Println(text)
}
