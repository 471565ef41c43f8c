package page

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// sample is a page with one of everything: lines with and without logarithms
// and shared x, points with labels, every unit, a table with marks.
func sample() *Page {
	return &Page{
		Title: "Admission policies on one day of requests",
		Lead:  "30,297 requests for 1,739 objects.\n\nSecond-hit writes a tenth of what always writes, and hits more often.",
		Sections: []Section{
			{
				Heading: "The trace",
				Facts: []Fact{
					{"requests", "30,297"}, {"objects", "1,739"}, {"unique bytes", "104 MiB"}, {"asked for once", "38.0 %"},
				},
			},
			{Heading: "Writes against hits", Text: "Left and up is better.", Chart: policies(), Table: policyTable()},
			{Heading: "Writes over time", Chart: overTime()},
			{Heading: "Latency", Chart: latencies()},
			{Heading: "False positives", Text: "One filter of m bits and n keys.", Chart: rates()},
			{Heading: "The setting", Code: "admission:\n  policy: second-hit\n  second_hit: {generations: 2, capacity: 172}\n"},
		},
	}
}

func policies() *Chart {
	c := &Chart{
		Title: "Byte hit ratio by bytes written", X: "bytes written", Y: "byte hit ratio", Kind: Scatter,
		XUnit: Bytes, YUnit: Percent, LogX: true,
		Series: []Series{{Name: "Pareto front"}, {Name: "other settings"}},
	}
	add := func(series int, label string, x, y float64) {
		s := &c.Series[series]
		s.X, s.Y, s.Labels = append(s.X, x), append(s.Y, y), append(s.Labels, label)
	}
	add(1, "always", 180e6, 0.3389)
	add(1, "counting > 4", 52e6, 0.3557)
	add(0, "second-hit, 1c keys", 14e6, 0.3679)
	add(0, "second-hit, 4c requests", 19e6, 0.3689)
	add(1, "second-hit, 16c keys", 19e6, 0.3660)
	add(0, "second-hit, stage 10 %", 21e6, 0.3788)
	for i := range 12 {
		add(1, fmt.Sprintf("grid %d", i+1), 60e6+8e6*float64(i), 0.34+0.002*math.Sin(float64(i)))
	}
	return c
}

func policyTable() *Table {
	return &Table{
		Caption: "Settings at 5 % of the unique bytes",
		Columns: []Column{{Name: "policy"}, {Name: "rotation"}, {"hit ratio", true}, {"byte hit ratio", true}, {"writes", true}, {"bytes written", true}},
		Rows: [][]string{
			{"always", "–", "72.61 %", "33.89 %", "8,298", "172 MiB"},
			{"second-hit", "4c requests", "78.99 %", "36.89 %", "898", "18.1 MiB"},
			{"second-hit, stage 10 %", "4c requests", "79.19 %", "37.88 %", "932", "20.0 MiB"},
			{"counting, more than 4", "never", "77.39 %", "35.57 %", "2,446", "49.6 MiB"},
		},
		Marked: []bool{false, true, true, false},
		Mark:   "on the Pareto front: no other setting writes less and hits as many bytes",
	}
}

func overTime() *Chart {
	c := &Chart{Title: "Bytes written", X: "time", Y: "bytes written", XUnit: Seconds, YUnit: Bytes}
	for n, name := range []string{"always", "second-hit", "counting"} {
		s := Series{Name: name}
		for i := n; i < 120; i += n + 1 { // x differs from series to series
			t := float64(30 * i)
			s.X, s.Y = append(s.X, t), append(s.Y, 9e6*math.Sqrt(t)/float64(n*n+1))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func latencies() *Chart {
	return &Chart{
		Title: "Time to the last byte", X: "percentile", Y: "time", YUnit: Seconds, LogY: true,
		Series: []Series{
			{Name: "hit", X: []float64{50, 90, 99, 99.9}, Y: []float64{42e-6, 90e-6, 310e-6, 1.4e-3}},
			{Name: "miss", X: []float64{50, 90, 99, 99.9}, Y: []float64{11e-3, 19e-3, 60e-3, 1.2}},
		},
	}
}

// rates has more series than the palette has colours.
func rates() *Chart {
	c := &Chart{Title: "Rate by number of hashes", X: "hashes k", Y: "false positive rate", YUnit: Percent, LogY: true}
	for bits := 4; bits <= 20; bits += 2 {
		s := Series{Name: fmt.Sprintf("%d bits a key", bits)}
		for k := 1.0; k <= 16; k++ {
			s.X, s.Y = append(s.X, k), append(s.Y, math.Pow(-math.Expm1(-k/float64(bits)), k))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// written returns the document of p.
func written(t *testing.T, p *Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
