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
const lastWords = 100 * time.Millisecond

// signals are what the process is told from outside.
type signals struct {
	stop   chan os.Signal // the first SIGTERM or SIGINT
	others chan os.Signal // SIGHUP and SIGUSR1; more than can wait are dropped
}

// hearSignals takes signals from now on. They are heard in a goroutine that waits for
// nothing else and lasts as long as the process. A second SIGTERM or SIGINT ends the
// process at once, also where everything else is stuck. SIGPIPE is ignored: a standard
// error or output without a reader is no reason to end.
func hearSignals(stderr io.Writer) *signals {
	s := &signals{stop: make(chan os.Signal, 1), others: make(chan os.Signal, 4)}
	in := make(chan os.Signal, 16)
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(in, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	go s.hear(in, func(sig os.Signal) {
		say(stderr, fmt.Sprintf("edgeproxy: second %s: stopped at once\n", sig), lastWords)
		os.Exit(exitFailed)
	})
	return s
}

func (s *signals) hear(in <-chan os.Signal, end func(os.Signal)) {
	asked := false
	for sig := range in {
		switch {
		case sig != syscall.SIGTERM && sig != syscall.SIGINT:
			select {
			case s.others <- sig:
			default:
			}
		case asked:
			end(sig)
		default:
			asked = true
			s.stop <- sig // has room for the only one
		}
	}
}

// answer deals with signals that do not end the process, one after the other, beside
// those that do.
func (e *edge) answer(others <-chan os.Signal) {
	for sig := range others {
		if sig == syscall.SIGHUP {
			e.reloadFor(sig)
			continue
		}
		e.reopenLogs()
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
