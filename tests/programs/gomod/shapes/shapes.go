// Package shapes has shapes.
package shapes

// Square is a shape.
type Square struct {
	Side int
}

// Area is how much it covers.
func (s Square) Area() int {
	return s.Side * s.Side // @area
}
