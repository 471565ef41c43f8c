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

	"edgeproxy/internal/rescue"
)

// sendTimeout bounds one message: a supervisor that reads none fills its socket.
const sendTimeout = time.Second

// Supervisor is the program that started this process and wants to hear of it, such as systemd. It is safe for
// concurrent use; nil is nobody.
type Supervisor struct {
	send    func(message string) error
	every   time.Duration // within which it wants to hear that we live; 0: it does not
	leaving atomic.Bool   // nothing is said any more but that

	end  context.CancelFunc // of the watch; nil: there is none
	gone chan struct{}      // closed when the watch is over
}

// FromEnvironment returns the supervisor that the environment names, nil if it names none. It removes the variables
// that name it, so that no child speaks for this process.
func FromEnvironment() (*Supervisor, error) {
	every, err := daemon.SdWatchdogEnabled(true)
	path := os.Getenv("NOTIFY_SOCKET")
	_ = os.Unsetenv("NOTIFY_SOCKET") // fails for names that are none
	if err != nil {
		return nil, fmt.Errorf("WATCHDOG_USEC: %w", err)
	}
	if path == "" {
		return nil, nil
	}
	return &Supervisor{send: func(message string) error { return send(path, message) }, every: every}, nil
}

// send sends one datagram. The socket is opened each time: the supervisor may have made it anew.
func send(path, message string) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	late := time.AfterFunc(sendTimeout, func() { _ = c.Close() })
	_, err = c.Write([]byte(message))
	late.Stop()
	_ = c.Close() // everything is sent, or err says so
	return err
}

// tell sends lines, unless the process is about to end.
func (s *Supervisor) tell(lines ...string) error {
	if s == nil || s.leaving.Load() {
		return nil
	}
	return s.send(strings.Join(lines, "\n"))
}

// Ready says that requests are served by the settings in force, at the start and after each
// Reloading. status is for people, one line.
func (s *Supervisor) Ready(status string) error { return s.tell("READY=1", "STATUS="+oneLine(status)) }

// Reloading says that settings are about to be read again. Ready has to follow, whatever comes of it.
func (s *Supervisor) Reloading() error {
	return s.tell("RELOADING=1", "MONOTONIC_USEC="+monotonic())
}

// Stopping says that the process is about to end by itself. Nothing is said after it.
func (s *Supervisor) Stopping() error {
	if s == nil || s.leaving.Swap(true) {
		return nil
	}
	return s.send("STOPPING=1")
}

// Watch says that the process lives, three times within the time that the supervisor gives,
// as long as alive says so within a third of it; failed hears of it if not, and of
// messages that could not be sent. Where nobody wants to hear, nothing happens. Close ends it. It is
// called once.
func (s *Supervisor) Watch(alive func(context.Context) error, failed func(error), panics *rescue.Counter) {
	if s == nil || s.every <= 0 {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	s.end, s.gone = end, make(chan struct{})
	go func() {
		defer close(s.gone)
		turn := time.NewTicker(s.every / 3)
		defer turn.Stop()
		for {
			panics.Quietly(func() { s.look(ctx, alive, failed) })
			select {
			case <-turn.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// look asks once, and passes it on.
func (s *Supervisor) look(ctx context.Context, alive func(context.Context) error, failed func(error)) {
	within, cancel := context.WithTimeout(ctx, s.every/3)
	defer cancel()
	err := alive(within)
	if err == nil {
		err = s.tell("WATCHDOG=1")
	}
	if err != nil && ctx.Err() == nil {
		failed(err)
	}
}

// Close ends the watch and waits for it.
func (s *Supervisor) Close() {
	if s == nil || s.end == nil {
		return
	}
	s.end()
	<-s.gone
}

// oneLine keeps a text from being taken for further messages.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
