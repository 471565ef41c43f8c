package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	barEvery  = 200 * time.Millisecond
	lineEvery = 5 * time.Second
)

// meter shows the progress of a run: a bar on a terminal, else a line every
// lineEvery. So a short run prints nothing.
type meter struct {
	stop, stopped chan struct{}
}

// newMeter shows done, which counts up to total, until Close.
func newMeter(out io.Writer, label string, total int64, done *atomic.Int64) *meter {
	m := &meter{stop: make(chan struct{}), stopped: make(chan struct{})}
	if terminal(out) {
		go m.bar(out, label, total, done)
	} else {
		go m.lines(out, label, total, done)
	}
	return m
}

// Close ends the display and waits for it.
func (m *meter) Close() {
	close(m.stop)
	<-m.stopped
}

func (m *meter) lines(out io.Writer, label string, total int64, done *atomic.Int64) {
	defer close(m.stopped)
	m.every(lineEvery, func() {
		fmt.Fprintf(out, "%s: %s of %s requests\n", label, humanize.Comma(done.Load()), humanize.Comma(total))
	})
}

func (m *meter) bar(out io.Writer, label string, total int64, done *atomic.Int64) {
	defer close(m.stopped)
	p := mpb.New(mpb.WithOutput(out), mpb.WithWidth(48), mpb.WithRefreshRate(barEvery))
	bar := p.AddBar(total,
		mpb.PrependDecorators(decor.Name(label, decor.WCSyncSpaceR), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.Percentage()),
	)
	m.every(barEvery, func() { bar.SetCurrent(done.Load()) })
	bar.SetCurrent(done.Load())
	bar.Abort(false) // no effect on a complete bar; an incomplete one stays as it is
	p.Wait()
}

func (m *meter) every(d time.Duration, f func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f()
		case <-m.stop:
			return
		}
	}
}

func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
