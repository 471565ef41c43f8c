package config

import "strconv"

// Warnings returns what will work, but hardly as intended: routes that are never
// reached, filters that are rotated by fill only, and a gate that may never
// close. It is in the order of the keys and empty where there is nothing to say.
func (c *Config) Warnings() []Warning {
	var out []Warning
	warn := func(path, text string) {
		p, exact := c.src.locate(path)
		w := Warning{File: c.src.file, Line: p.line, Column: p.column, Path: path, Text: text}
		if exact && p.scalar {
			w.Value = shown(p.text)
		}
		out = append(out, w)
	}
	for i, late := range c.Routes {
		for j, early := range c.Routes[:i] {
			if early.Match.covers(late.Match) {
				warn(item("routes", i), "never reached: "+item("routes", j)+" ("+early.Name+") matches whatever it matches")
				break
			}
		}
	}
	for _, f := range []struct {
		path   string
		policy Policy
		window Window
	}{
		{"admission.second_hit", PolicySecondHit, c.Admission.SecondHit},
		{"admission.counting", PolicyCounting, c.Admission.Counting.Window},
	} {
		if f.window.RotateEvery == 0 && c.uses(f.policy) {
			warn(child(f.path, "rotate_every"), "rotates by fill only: a sighting is remembered until "+
				strconv.Itoa(f.window.Capacity*(f.window.Generations-1))+" other keys or more have come, however long that takes")
		}
	}
	if c.Admission.OpenBelow > mostlyFull {
		warn(openBelow, "a full cache may stay below this share of its size, and the gate open: want at most "+
			strconv.FormatFloat(mostlyFull, 'g', -1, 64))
	}
	return out
}

// mostlyFull is a share that every full memory tier reaches: 1/32 of it is kept
// for variants, and room for the largest objects may be free.
const mostlyFull = 0.9
