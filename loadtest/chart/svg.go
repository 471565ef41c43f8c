package main

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Lengths, in pixels.
const (
	width     = 860
	leftOfBar = 190 // room for the name of a bar
	longest   = 420 // the longest bar of a group
	rowHeight = 26
	barHeight = 16
	titleRoom = 34 // a group's title, with the space above it
	margin    = 12
)

// style has the colours of light pages, and those of dark ones.
const style = `text{font:14px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600}.n{text-anchor:end}.m{fill:#59636e}` +
	`.a{fill:#b6bec8}.o{fill:#0a7a50}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.m{fill:#9198a1}.a{fill:#4b535d}.o{fill:#3fb37f}}`

// svg returns the chart of groups.
func svg(groups []group) string {
	var b strings.Builder
	y, says := margin, make([]string, 0, len(groups))
	for _, g := range groups {
		y += titleRoom
		fmt.Fprintf(&b, `<text class="t" x="%d" y="%d">%s</text>`+"\n", margin, y-margin, escaped(g.title))
		most := g.mostShare()
		for _, r := range g.bars {
			r.draw(&b, y, r.share/most*longest)
			y += rowHeight
		}
		last := g.bars[len(g.bars)-1]
		says = append(says, fmt.Sprintf("%s: %s of the writes", g.title, percent(last.share)))
	}
	height := y + margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n<title>%s</title>\n<style>%s</style>\n%s</svg>\n",
		width, height, width, height, escaped("Writes of edgeproxy. "+strings.Join(says, ", ")), style, b.String())
}

// mostShare returns the largest share of a bar of g.
func (g *group) mostShare() (most float64) {
	for _, r := range g.bars {
		most = max(most, r.share)
	}
	return most
}

// draw draws r with a bar of length, whose upper end is at y.
func (r *bar) draw(b *strings.Builder, y int, length float64) {
	class, text := "a", y+barHeight-3
	if r.ours {
		class = "o"
	}
	length = max(length, 1)
	less := ""
	if r.share != 1 {
		less = fmt.Sprintf(" (%+.0f %%)", 100*(r.share-1))
	}
	fmt.Fprintf(b, `<text class="n" x="%d" y="%d">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+
		`<text x="%.1f" y="%d">%s writes%s <tspan class="m">%s hits</tspan></text>`+"\n",
		leftOfBar-margin, text, escaped(r.name), class, leftOfBar, y, length, barHeight,
		leftOfBar+length+8, text, humanize.Comma(r.writes), strings.ReplaceAll(less, "-", "−"), percent(r.hits))
}

func percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

// escaped returns text as the content of an element.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
