package supervisor

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"edgeproxy/internal/conn/rescue"
)

// sendTimeout bounds one message: the socket of a supervisor that does not read fills up.
const sendTimeout = time.Second

// Supervisor is the program that started this process and wants notifications, such as systemd. It is safe for
// concurrent use. All methods of a nil Supervisor do nothing.
type Supervisor struct {
	send             func(message string) error
	watchdogInterval time.Duration // longest time between two WATCHDOG=1; 0: no watchdog
	stopping         atomic.Bool   // STOPPING=1 was sent; nothing is sent after it

	stopWatch context.CancelFunc // ends the watch; nil: there is none
	watchDone chan struct{}      // closed when the watch is over
}

// FromEnvironment returns the supervisor that the environment names, nil if it names none. It removes the variables,
// so that no child process notifies in the name of this one.
func FromEnvironment() (*Supervisor, error) {
	every, err := daemon.SdWatchdogEnabled(true)
	path := os.Getenv("NOTIFY_SOCKET")
	_ = os.Unsetenv("NOTIFY_SOCKET") // fails only for invalid names
	if err != nil {
		return nil, fmt.Errorf("WATCHDOG_USEC: %w", err)
	}
	if path == "" {
		return nil, nil
	}
	return &Supervisor{send: func(message string) error { return send(path, message) }, watchdogInterval: every}, nil
}

// send sends one datagram. It opens the socket each time, because the supervisor may have recreated it.
func send(path, message string) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	late := time.AfterFunc(sendTimeout, func() { _ = c.Close() })
	_, err = c.Write([]byte(message))
	late.Stop()
	_ = c.Close() // err has the result of the write
	return err
}

// notify sends lines, unless Stopping was called.
func (s *Supervisor) notify(lines ...string) error {
	if s == nil || s.stopping.Load() {
		return nil
	}
	return s.send(strings.Join(lines, "\n"))
}

// Ready notifies that requests are served with the settings in force, at the start and after
// each Reloading. status is one line of text for the operator.
func (s *Supervisor) Ready(status string) error {
	return s.notify("READY=1", "STATUS="+oneLine(status))
}

// Reloading notifies that a reload begins. Ready has to follow, even if the reload fails.
func (s *Supervisor) Reloading() error {
	return s.notify("RELOADING=1", "MONOTONIC_USEC="+monotonic())
}

// Stopping notifies that the process is shutting down. Nothing is sent after it.
func (s *Supervisor) Stopping() error {
	if s == nil || s.stopping.Swap(true) {
		return nil
	}
	return s.send("STOPPING=1")
}

// Watch starts the watchdog notifications, three in each watchdog interval. Before each it calls
// alive, which has a third of the interval. If alive fails, or the notification cannot be sent,
// Watch calls failed instead. Without a watchdog it does nothing. Close ends it. Call it only once.
func (s *Supervisor) Watch(alive func(context.Context) error, failed func(error), panics *rescue.Counter) {
	if s == nil || s.watchdogInterval <= 0 {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	s.stopWatch, s.watchDone = end, make(chan struct{})
	go func() {
		defer close(s.watchDone)
		turn := time.NewTicker(s.watchdogInterval / 3)
		defer turn.Stop()
		for {
			panics.Quietly(func() { s.notifyWatchdog(ctx, alive, failed) })
			select {
			case <-turn.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// notifyWatchdog calls alive, and sends one notification if it succeeds.
func (s *Supervisor) notifyWatchdog(ctx context.Context, alive func(context.Context) error, failed func(error)) {
	within, cancel := context.WithTimeout(ctx, s.watchdogInterval/3)
	defer cancel()
	err := alive(within)
	if err == nil {
		err = s.notify("WATCHDOG=1")
	}
	if err != nil && ctx.Err() == nil {
		failed(err)
	}
}

// Close ends the watch and waits for it.
func (s *Supervisor) Close() {
	if s == nil || s.stopWatch == nil {
		return
	}
	s.stopWatch()
	<-s.watchDone
}

// oneLine replaces line feeds, which would begin further messages.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
