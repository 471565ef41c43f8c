package simulate

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// drawEvery is how often a bar is redrawn.
const drawEvery = 200 * time.Millisecond

// Meter shows the progress of a run on a terminal, first of reading, then of the
// replay. It draws nothing if the output is no terminal. Its methods are for one
// goroutine at a time. The caller must close it.
type Meter struct {
	bars *mpb.Progress // nil: nothing is drawn
	bar  *mpb.Bar
	name string // name of the bar
}

// NewMeter returns a Meter that draws on out if that is a terminal.
func NewMeter(out io.Writer) *Meter {
	file, ok := out.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return &Meter{}
	}
	return &Meter{bars: mpb.New(mpb.WithOutput(out), mpb.WithWidth(48), mpb.WithRefreshRate(drawEvery))}
}

// Reading shows how much of the logs is read, in bytes, or in generated requests.
// total is 0 if it is unknown.
func (m *Meter) Reading(read, total int64) { m.show("reading", read, total) }

// Replaying shows how many requests are replayed.
func (m *Meter) Replaying(done, total int64) { m.show("replaying", done, total) }

// show draws the bar called name. It removes the bar before it, unless that is full.
func (m *Meter) show(name string, done, total int64) {
	if m.bars == nil {
		return
	}
	if m.name != name {
		m.abort()
		m.name, m.bar = name, m.add(name, total)
	}
	m.bar.SetCurrent(done)
}

// add draws a bar, or only a number if the total is unknown.
func (m *Meter) add(name string, total int64) *mpb.Bar {
	label := mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR))
	if total <= 0 {
		return m.bars.New(0, mpb.NopStyle(), label, mpb.AppendDecorators(decor.CurrentNoUnit("%d")))
	}
	return m.bars.AddBar(total, label, mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace)))
}

// abort removes the bar, unless it is full.
func (m *Meter) abort() {
	if m.bar != nil {
		m.bar.Abort(true)
	}
}

// Close removes an unfinished bar and waits until nothing is drawn any more.
func (m *Meter) Close() {
	if m.bars == nil {
		return
	}
	m.abort()
	m.bars.Wait()
}
