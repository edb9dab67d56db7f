package main

func side() int {
	return 4 // @side
}
