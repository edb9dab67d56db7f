// Sends messages in batches, one list of batches for each receiver; a header begins every batch.
package main

import (
	"fmt"
	"os"
	"strings"
)

type message struct {
	receiver string
	text     string
}

type batcher struct {
	header []string
	size   int
	open   map[string][]string
	sent   map[string][][]string
	order  []string
}

func newBatcher(size int, header ...string) *batcher {
	kept := make([]string, 0, size+len(header))
	kept = append(kept, header...)
	return &batcher{header: kept, size: size, open: map[string][]string{}, sent: map[string][][]string{}}
}

func (b *batcher) begin(receiver string) []string {
	if _, known := b.sent[receiver]; !known {
		b.order = append(b.order, receiver)
		b.sent[receiver] = nil
	}
	return b.header
}

func (b *batcher) add(one message) {
	batch, isOpen := b.open[one.receiver]
	if !isOpen {
		batch = b.begin(one.receiver)
	}
	batch = append(batch, one.text)
	b.open[one.receiver] = batch
	if len(batch) == b.size+len(b.header) {
		b.flush(one.receiver)
	}
}

func (b *batcher) flush(receiver string) {
	batch, isOpen := b.open[receiver]
	if !isOpen {
		return
	}
	b.sent[receiver] = append(b.sent[receiver], batch)
	delete(b.open, receiver)
}

func (b *batcher) close() {
	for _, receiver := range b.order {
		b.flush(receiver)
	}
}

func main() {
	batches := newBatcher(3, "v1", "utf-8")
	for _, one := range []message{
		{"anna", "bread"}, {"anna", "milk"}, {"anna", "eggs"},
		{"bert", "nails"}, {"cora", "paint"}, {"bert", "screws"}, {"cora", "brush"},
	} {
		batches.add(one)
	}
	batches.close()
	wrong := 0
	expected := map[string]string{
		"anna": "v1 utf-8 bread milk eggs",
		"bert": "v1 utf-8 nails screws",
		"cora": "v1 utf-8 paint brush",
	}
	for _, receiver := range batches.order {
		for _, batch := range batches.sent[receiver] {
			text := strings.Join(batch, " ")
			fmt.Println(receiver+":", text)
			if text != expected[receiver] {
				wrong++
			}
		}
	}
	if wrong > 0 {
		fmt.Println(wrong, "batches are wrong")
		os.Exit(1)
	}
}
