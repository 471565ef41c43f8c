package simulate

import (
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

// drawEvery is how often a bar is drawn anew.
const drawEvery = 200 * time.Millisecond

// Meter shows on a terminal how far a run is, first the reading and then the
// replay. It draws nothing where the output is no terminal. Its methods are for
// one goroutine at a time. Close it.
type Meter struct {
	bars *mpb.Progress // nil: nothing is drawn
	bar  *mpb.Bar
	name string // of the bar
}

// NewMeter returns a Meter that draws on out if that is a terminal.
func NewMeter(out io.Writer) *Meter {
	file, ok := out.(*os.File)
	if !ok || !cwriter.IsTerminal(int(file.Fd())) {
		return &Meter{}
	}
	return &Meter{bars: mpb.New(mpb.WithOutput(out), mpb.WithWidth(48), mpb.WithRefreshRate(drawEvery))}
}

// Reading shows how much of the logs is read, in bytes or in requests to make
// up; total is 0 where it is unknown.
func (m *Meter) Reading(read, total int64) { m.show("reading", read, total) }

// Replaying shows how many requests are replayed.
func (m *Meter) Replaying(done, total int64) { m.show("replaying", done, total) }

// show draws the bar called name. One before it stays if it is full, else it goes.
func (m *Meter) show(name string, done, total int64) {
	if m.bars == nil {
		return
	}
	if m.name != name {
		m.drop()
		m.name, m.bar = name, m.add(name, total)
	}
	m.bar.SetCurrent(done)
}

// add draws a bar, and a mere number where the total is unknown.
func (m *Meter) add(name string, total int64) *mpb.Bar {
	label := mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR))
	if total <= 0 {
		return m.bars.New(0, mpb.NopStyle(), label, mpb.AppendDecorators(decor.CurrentNoUnit("%d")))
	}
	return m.bars.AddBar(total, label, mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace)))
}

// drop takes the bar away, unless it is full.
func (m *Meter) drop() {
	if m.bar != nil {
		m.bar.Abort(true)
	}
}

// Close takes an unfinished bar away and waits until the terminal is left alone.
func (m *Meter) Close() {
	if m.bars == nil {
		return
	}
	m.drop()
	m.bars.Wait()
}
