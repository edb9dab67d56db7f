// Panics as told by its argument: index, nil, error, text, struct, or recovers and goes on.
package main

import (
	"errors"
	"fmt"
	"os"
)

type account struct {
	owner   string
	balance int
}

type refused struct {
	code int
	why  string
}

func (r *refused) Error() string {
	return fmt.Sprintf("refused with %d: %s", r.code, r.why)
}

type mishap string

func (m mishap) Error() string {
	return string(m)
}

func pick(numbers []int, index int) int {
	return numbers[index] // @index
}

func balance(of *account) int {
	return of.balance // @nil
}

func protected() (message string) {
	defer func() {
		message = fmt.Sprint("recovered: ", recover()) // @recovered
	}()
	panic(mishap("nothing serious")) // @caught
}

func main() {
	how := "index"
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	fmt.Println("about to panic:", how) // @ready
	switch how {
	case "nil":
		fmt.Println(balance(nil))
	case "error":
		panic(errors.New("nothing to parse")) // @error
	case "struct":
		panic(&refused{code: 7, why: "too late"}) // @struct
	case "text":
		panic("a plain text that is rather long, so that a debugger may cut it: " + how + ", to the end") // @text
	case "recovers":
		fmt.Println(protected()) // @recovers
	default:
		fmt.Println(pick([]int{1, 4, 9}, 5)) // @pick
	}
}
