package page_test

import (
	"bytes"
	"fmt"
	"strings"

	"edgeproxy/internal/ops/page"
)

func ExamplePage() {
	p := page.Page{
		Title: "One day of requests",
		Sections: []page.Section{{
			Heading: "Writes",
			Facts:   []page.Fact{{Name: "written", Value: page.Bytes.Format(18.1 * (1 << 20))}},
			Chart: &page.Chart{
				Title: "Bytes written", X: "time", Y: "bytes", XUnit: page.Seconds, YUnit: page.Bytes,
				Series: []page.Series{
					{Name: "always", X: []float64{0, 60, 120}, Y: []float64{0, 4e6, 9e6}},
					{Name: "second-hit", X: []float64{0, 60, 120}, Y: []float64{0, 3e5, 5e5}},
				},
			},
		}},
	}
	var file bytes.Buffer
	err := p.Write(&file)
	fmt.Println(err, strings.Contains(file.String(), "<dt>written</dt><dd>18.1 MiB</dd>"))
	// Output: <nil> true
}
