package main

import (
	"fmt"
	"os"
	"strconv"
)

type Row struct{ ID, Price int }

func parsePrice(text string) int {
	n, _ := strconv.Atoi(text)
	return n * 10 // @parsed
}

func load(lines []string) []Row {
	var rows []Row
	for i, line := range lines {
		rows = append(rows, Row{ID: i + 1, Price: parsePrice(line)}) // @appended
	}
	return rows
}

func index(rows []Row) map[int]int {
	prices := map[int]int{}
	for _, row := range rows {
		prices[row.ID] = row.Price // @put
	}
	return prices
}

func find(prices map[int]int, id int) int {
	return prices[id]
}

func main() {
	rows := load([]string{"5", "7", "1"})
	prices := index(rows)
	price := find(prices, 2) // @found
	total := price
	if total != 7 {
		fmt.Println("wrong", total) // @wrong
		os.Exit(1)
	}
}
