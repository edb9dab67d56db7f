package main

import "fmt"

func main() {
	request := []byte("GET /index.html")
	word := [8]byte{'h', 'e', 'l', 'l', 'o'}
	few := []byte{1, 2, 255, 65, 66}
	fmt.Println(request, word, few) // @end
}
