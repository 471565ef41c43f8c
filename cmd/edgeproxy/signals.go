package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// lastWords is how long a process that ends at once may take to say why.
const abortMessageTimeout = 100 * time.Millisecond

// signals are what the process is told from outside.
type signals struct {
	stop   chan os.Signal // the first SIGTERM or SIGINT
	hangup chan os.Signal // SIGHUP, and SIGUSR1 below: one of each waits, and says what more of it would
	reopen chan os.Signal
}

func newSignals() *signals {
	return &signals{stop: make(chan os.Signal, 1), hangup: make(chan os.Signal, 1), reopen: make(chan os.Signal, 1)}
}

// notifySignals takes signals from now on. They are heard in a goroutine that waits for
// nothing else and lasts as long as the process. A second SIGTERM or SIGINT ends the
// process at once, also where everything else is stuck. SIGPIPE is ignored: a standard
// error or output without a reader is no reason to end.
func notifySignals(stderr io.Writer) *signals {
	s := newSignals()
	in := make(chan os.Signal, 16)
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(in, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	go s.dispatch(in, func(sig os.Signal) {
		printWithin(stderr, fmt.Sprintf("edgeproxy: second %s: stopped at once\n", sig), abortMessageTimeout)
		os.Exit(exitFailed)
	})
	return s
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

// handleSignals deals with signals that do not end the process, one after the other, beside
// those that do.
func (e *edge) handleSignals(s *signals) {
	for {
		select {
		case sig := <-s.hangup:
			e.reloadFor(sig)
		case <-s.reopen:
			e.reopenLogs()
		}
	}
}

// reloadFor reloads for a signal. What comes of it is in the log.
func (e *edge) reloadFor(sig os.Signal) {
	e.panics.Quietly(func() {
		_, err := e.reloader.reload(context.Background(), sig.String())
		if errors.Is(err, errNoFile) || errors.Is(err, errDraining) {
			e.log.Warn("the configuration was not reloaded", "cause", sig.String(), "error", err)
		}
	})
}
