// Package shipping says what it costs to send parcels.
package shipping

// Tier is a price in cents for parcels of up to Grams.
type Tier struct {
	Grams int
	Cents int
}

var tiers = []Tier{{500, 390}, {2000, 590}, {10000, 990}, {31500, 1890}}

// Price returns what one parcel costs; 0 for one that is too heavy.
func Price(grams int) int {
	for _, tier := range tiers {
		if grams < tier.Grams {
			return tier.Cents
		}
	}
	return 0
}

// Total returns what several parcels cost, the island's surcharge included.
func Total(parcels []int, island bool) int {
	sum := 0
	for _, grams := range parcels {
		sum += Price(grams)
	}
	if island {
		sum += 450 * len(parcels)
	}
	return sum
}
