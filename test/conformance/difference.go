package main

// change is a test whose outcome is not the one it is compared with.
type change struct {
	was, is result
}

// difference is what one list of results says otherwise than another.
type difference struct {
	lost    []change // required or optimal, and held before
	gained  []change // did not hold before
	moved   []change // every other change, such as a check that turns from yes to no
	missing []result // in the first list only
	fresh   []result // in the second list only
}

// compare lists what differs, in the order of is.
func compare(was, is []result) difference {
	before := byID(was)
	var d difference
	for _, r := range is {
		b, ok := before[r.id]
		delete(before, r.id)
		c := change{was: b, is: r}
		switch {
		case !ok:
			d.fresh = append(d.fresh, r)
		case b.outcome == r.outcome:
		case b.outcome.holds() && r.kind != check:
			d.lost = append(d.lost, c)
		case r.outcome.holds() && r.kind != check:
			d.gained = append(d.gained, c)
		default:
			d.moved = append(d.moved, c)
		}
	}
	for _, r := range was {
		if _, ok := before[r.id]; ok {
			d.missing = append(d.missing, r)
		}
	}
	return d
}

// none says that nothing differs at all.
func (d *difference) none() bool {
	return len(d.lost)+len(d.gained)+len(d.moved)+len(d.missing)+len(d.fresh) == 0
}

// differing returns the ids of the tests that both lists have and judge differently.
func (d *difference) differing() []string {
	var out []string
	for _, list := range [][]change{d.lost, d.gained, d.moved} {
		for _, c := range list {
			out = append(out, c.is.id)
		}
	}
	return out
}

func byID(results []result) map[string]result {
	out := make(map[string]result, len(results))
	for _, r := range results {
		out[r.id] = r
	}
	return out
}
