// Command pipeline counts words of documents in parallel, and reports its progress meanwhile.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

type document struct {
	name string
	text string
}

type counted struct {
	document string
	words    map[string]int
}

var documents = []document{
	{"plan", "build the house then paint the house"},
	{"list", "milk bread butter bread"},
	{"note", "the bread is in the house"},
	{"poem", "the rain the river the sea"},
	{"memo", "paint is in the shed"},
	{"will", "the house to the cat"},
}

func count(text string) map[string]int {
	words := map[string]int{}
	for _, word := range strings.Fields(text) {
		words[word]++
	}
	return words
}

func worker(queue <-chan document, results chan<- counted) {
	for next := range queue {
		results <- counted{next.name, count(next.text)}
	}
}

func progress(started time.Time) {
	for range time.Tick(500 * time.Millisecond) {
		fmt.Fprintf(os.Stderr, "working for %v\n", time.Since(started).Round(time.Second))
	}
}

func merge(total map[string]int, one counted) {
	for word, times := range one.words {
		total[word] += times
	}
}

func index(all []document, workers int) map[string]int {
	queue := make(chan document)
	results := make(chan counted, 1)
	for i := 0; i < workers; i++ {
		go worker(queue, results)
	}
	for _, one := range all {
		queue <- one
	}
	close(queue)
	total := map[string]int{}
	for range all {
		merge(total, <-results)
	}
	return total
}

func report(total map[string]int) {
	words := make([]string, 0, len(total))
	for word := range total {
		words = append(words, word)
	}
	sort.Slice(words, func(i, j int) bool {
		return total[words[i]] > total[words[j]] || total[words[i]] == total[words[j]] && words[i] < words[j]
	})
	for _, word := range words[:3] {
		fmt.Printf("%-6s %d\n", word, total[word])
	}
}

func main() {
	go progress(time.Now())
	report(index(documents, 2))
}
