// Ends as told by its argument: an exit status, or abort, segv, term, kill.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

func die(of syscall.Signal) {
	signal.Reset(of)
	_ = syscall.Kill(os.Getpid(), of) // @dies
	select {}
}

func main() {
	how := "0"
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	fmt.Println("ending:", how) // @ending
	switch how {
	case "abort":
		die(syscall.SIGABRT)
	case "segv":
		die(syscall.SIGSEGV)
	case "term":
		die(syscall.SIGTERM)
	case "kill":
		die(syscall.SIGKILL)
	}
	status, _ := strconv.Atoi(how)
	os.Exit(status)
}
