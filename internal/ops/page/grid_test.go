package page

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGridKeepsEveryPointAndItsRow(t *testing.T) {
	f := func(name string, c *Chart, data string, table Table) {
		t.Helper()
		if err := c.check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g, gotTable := gridOf(c)
		got, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != data {
			t.Errorf("%s: got %s\nwant %s", name, got, data)
		}
		if diff := cmp.Diff(table, gotTable); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", name, diff)
		}
	}

	f("lines with x of their own",
		&Chart{X: "t", Y: "b", XUnit: Seconds, YUnit: Bytes, Series: []Series{
			{Name: "a", X: []float64{1, 3, 4}, Y: []float64{10, 30, 40}},
			{Name: "none"},
			{Name: "b", X: []float64{2, 3}, Y: []float64{2048, 0}},
		}},
		`{"kind":"line","x":{"label":"t","unit":"seconds","log":false},"y":{"label":"b","unit":"bytes","log":false},`+
			`"series":["a","none","b"],"xs":[1,2,3,4],"ys":[[10,null,30,40],[null,null,null,null],[null,2048,0,null]]}`,
		Table{
			Columns: []Column{{"t", true}, {"a", true}, {"none", true}, {"b", true}},
			Rows:    [][]string{{"1 s", "10 B", "", ""}, {"2 s", "", "", "2 KiB"}, {"3 s", "30 B", "", "0 B"}, {"4 s", "40 B", "", ""}},
		})
	f("points with one x",
		&Chart{X: "x", Y: "y", Kind: Scatter, LogX: true, YUnit: Percent, Series: []Series{
			{Name: "a", X: []float64{5, 2}, Y: []float64{0.5, 0.2}, Labels: []string{"five", "two"}},
			{Name: "b", X: []float64{2, 2}, Y: []float64{0.3, 0.4}},
		}},
		`{"kind":"scatter","x":{"label":"x","unit":"plain","log":true},"y":{"label":"y","unit":"percent","log":false},`+
			`"series":["a","b"],"xs":[2,2,2,5],"ys":[[0.2,null,null,0.5],[null,0.3,0.4,null]],"labels":["two","","","five"]}`,
		Table{
			Columns: []Column{{Name: "Series"}, {Name: "Point"}, {"x", true}, {"y", true}},
			Rows:    [][]string{{"a", "two", "2", "20 %"}, {"b", "", "2", "30 %"}, {"b", "", "2", "40 %"}, {"a", "five", "5", "50 %"}},
		})
}
