package main

type row struct{ value int }

type repo struct{ rows map[string]*row }

func (r *repo) find(key string) *row {
	found, ok := r.rows[key]
	if !ok {
		return nil
	}
	return found
}

func load(r *repo) int {
	key := "b" + "c"
	return r.find(key).value
}

func main() {
	println(load(&repo{map[string]*row{"a": {1}}}))
}
