// Waits for what nobody sends: the runtime ends it, for all goroutines are asleep.
package main

import "fmt"

func receive(from chan int) int {
	return <-from // @receive
}

func main() {
	fmt.Println("waiting")
	fmt.Println(receive(make(chan int)))
}
