package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"edgeproxy/internal/edge"
)

// abortMessageTimeout bounds the write of the message of a process that ends at once.
const abortMessageTimeout = 100 * time.Millisecond

// doubledWithin is how long after a signal to stop demo and simulate take further ones for the same wish: one Ctrl-C arrives twice if
// the terminal and a parent, such as a script with a trap, both deliver it. serve does not wait: its second signal ends it at once.
const doubledWithin = 100 * time.Millisecond

// stopWish tells a signal that asks to stop from one that asks again. The zero stopWish has seen none.
type stopWish struct{ asked time.Time }

// note notes a signal. first says that it is the first one, again that it is another wish than the first.
func (w *stopWish) note() (first, again bool) {
	now := time.Now()
	if w.asked.IsZero() {
		w.asked = now
		return true, false
	}
	return false, now.Sub(w.asked) >= doubledWithin
}

// signals has one channel for each kind of signal.
type signals struct {
	stop   chan os.Signal // the first SIGTERM, SIGINT or SIGQUIT; nginx takes the last for a graceful stop
	hangup chan os.Signal // SIGHUP; holds one, which stands for all that come meanwhile
	reopen chan os.Signal // SIGUSR1; the same

	in    chan os.Signal // all of them, as they come
	ended chan struct{}  // closed by end
}

func newSignals() *signals {
	return &signals{
		stop: make(chan os.Signal, 1), hangup: make(chan os.Signal, 1), reopen: make(chan os.Signal, 1),
		in: make(chan os.Signal, 16), ended: make(chan struct{}),
	}
}

// notifySignals starts to receive signals. A goroutine of its own dispatches them, waits for
// nothing else and lasts until end. So a second SIGTERM, SIGINT or SIGQUIT ends the
// process at once, even if everything else is stuck. SIGPIPE is ignored: a closed standard
// output or error does not end the process.
func notifySignals(stderr io.Writer) *signals {
	s := newSignals()
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(s.in, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1)
	go s.dispatch(s.in, func(sig os.Signal) {
		printWithin(stderr, fmt.Sprintf("edgeproxy: second %s: stopped at once\n", sig), abortMessageTimeout)
		os.Exit(exitFailed)
	})
	return s
}

// end stops to receive signals, which the process then takes as any process does. It ends the goroutines of s.
func (s *signals) end() {
	signal.Stop(s.in)
	close(s.in)
	close(s.ended)
}

func (s *signals) dispatch(in <-chan os.Signal, end func(os.Signal)) {
	asked := false
	for sig := range in {
		switch {
		case sig == syscall.SIGHUP:
			offer(s.hangup, sig)
		case sig == syscall.SIGUSR1:
			offer(s.reopen, sig)
		case asked:
			end(sig)
		default:
			asked = true
			s.stop <- sig // has room for the only one
		}
	}
}

// offer sends sig unless one waits already.
func offer(c chan<- os.Signal, sig os.Signal) {
	select {
	case c <- sig:
	default:
	}
}

// handle handles the signals that do not end the process, one after the other, until end.
func (s *signals) handle(e *edge.Edge) {
	for {
		select {
		case sig := <-s.hangup:
			e.Reload(sig.String())
		case <-s.reopen:
			e.ReopenLogs()
		case <-s.ended:
			return
		}
	}
}
