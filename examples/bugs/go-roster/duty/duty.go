// Package duty plans who does what on which day.
package duty

// Plan holds people in their turn.
type Plan struct {
	people []string
	away   map[string]map[string]bool
	turn   int
	stood  map[string]int
}

// New makes a plan for people.
func New(people ...string) *Plan {
	return &Plan{people: people, away: map[string]map[string]bool{}}
}

// Away notes that somebody is not there on some days.
func (p *Plan) Away(name string, days ...string) {
	if p.away[name] == nil {
		p.away[name] = map[string]bool{}
	}
	for _, day := range days {
		p.away[name][day] = true
	}
}

// Next returns who is on duty on a day.
func (p *Plan) Next(day string) string {
	name := p.people[p.turn%len(p.people)]
	p.turn++
	if !p.away[name][day] {
		return name
	}
	return p.substitute(day, name)
}

// substitute finds somebody else: the next one, or who has stood in least.
func (p *Plan) substitute(day, missing string) string {
	next := p.people[p.turn%len(p.people)]
	if next != missing && !p.away[next][day] {
		return next
	}
	return p.least(day)
}

func (p *Plan) least(day string) string {
	chosen := ""
	for _, name := range p.people {
		if p.away[name][day] {
			continue
		}
		if chosen == "" || p.stood[name] < p.stood[chosen] {
			chosen = name
		}
	}
	p.stood[chosen]++
	return chosen
}
