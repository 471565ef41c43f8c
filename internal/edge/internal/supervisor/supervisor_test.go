package supervisor

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listen opens a socket as systemd does, and returns what comes there, a message at a time.
func listen(t *testing.T, name string) (next func() string) {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return func() string {
		t.Helper()
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

// place returns a path that is short enough for the name of a socket.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// fromEnvironment is FromEnvironment with these variables.
func fromEnvironment(t *testing.T, socket, usec, pid string) (*Supervisor, error) {
	t.Helper()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", usec)
	t.Setenv("WATCHDOG_PID", pid)
	return FromEnvironment()
}

func TestASupervisorHearsOfStartReloadAndStop(t *testing.T) {
	names := []string{place(t)}
	if runtime.GOOS == "linux" {
		names = append(names, "@edgeproxy-test-"+strconv.Itoa(os.Getpid())) // in no file system
	}
	for _, name := range names {
		next := listen(t, name)
		s, err := fromEnvironment(t, name, "", "")
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		for _, step := range []struct {
			tell func() error
			want string
		}{
			{func() error { return s.Ready("serving\nSTOPPING=1") }, `^READY=1\nSTATUS=serving STOPPING=1$`},
			{s.Reloading, `^RELOADING=1\nMONOTONIC_USEC=\d+$`},
			{func() error { return s.Ready("serving") }, `^READY=1\nSTATUS=serving$`},
			{s.Stopping, `^STOPPING=1$`},
		} {
			if err := step.tell(); err != nil {
				t.Fatal(err)
			}
			if got := next(); !regexp.MustCompile(step.want).MatchString(got) {
				t.Errorf("got %q, want %s", got, step.want)
			}
		}
		if err := errors.Join(s.Ready("late"), s.Stopping(), s.Reloading()); err != nil {
			t.Error(err)
		}
		if err := s.send("the end"); err != nil {
			t.Fatal(err)
		}
		if got := next(); got != "the end" {
			t.Errorf("got %q after STOPPING, want nothing", got)
		}
	}
}

func TestTheEnvironmentSaysWhoWantsToHear(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	for name, c := range map[string]struct {
		socket, usec, pid string
		there             bool
		every             time.Duration
		fails             bool
	}{
		"nobody":                            {},
		"no watchdog":                       {socket: "/run/notify", there: true},
		"a watchdog":                        {socket: "/run/notify", usec: "3000000", there: true, every: 3 * time.Second},
		"our watchdog":                      {socket: "/run/notify", usec: "3000000", pid: pid, there: true, every: 3 * time.Second},
		"a watchdog of another":             {socket: "/run/notify", usec: "3000000", pid: pid + "0", there: true},
		"a watchdog that asks for nonsense": {socket: "/run/notify", usec: "soon", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fromEnvironment(t, c.socket, c.usec, c.pid)
			if (err != nil) != c.fails || (s != nil) != c.there {
				t.Fatalf("got %v, %v", s, err)
			}
			if s != nil && s.watchdogInterval != c.every {
				t.Errorf("got a watchdog of %v, want %v", s.watchdogInterval, c.every)
			}
			for _, variable := range os.Environ() {
				if strings.HasPrefix(variable, "NOTIFY_SOCKET=") || strings.HasPrefix(variable, "WATCHDOG_") {
					t.Errorf("a child would have %s", variable)
				}
			}
		})
	}
}

func TestNobodyIsToldNothing(t *testing.T) {
	var s *Supervisor
	s.Watch(func(context.Context) error { t.Error("asked"); return nil }, func(error) {}, nil)
	if err := errors.Join(s.Ready(""), s.Reloading(), s.Stopping()); err != nil {
		t.Error(err)
	}
	s.Close()
}

// TestAProcessThatHangsIsNotSaidToLive plays a minute and a half: well, then hung, then well.
func TestAProcessThatHangsIsNotSaidToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var said []int // seconds since the begin
		failures := 0
		s := &Supervisor{watchdogInterval: 30 * time.Second, send: func(message string) error {
			if message != "WATCHDOG=1" {
				t.Errorf("got %q", message)
			}
			said = append(said, int(time.Since(begin).Seconds()))
			return nil
		}}
		s.Watch(func(ctx context.Context) error {
			if at := time.Since(begin); at < 25*time.Second || at > 55*time.Second {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}, func(error) { failures++ }, nil)
		time.Sleep(95 * time.Second)
		s.Close()
		if want := []int{0, 10, 20, 60, 70, 80, 90}; !slices.Equal(said, want) || failures != 3 {
			t.Errorf("said to live at %v, %d failures; want %v, and 3", said, failures, want)
		}
	})
}

func TestASocketThatIsGoneIsAnError(t *testing.T) {
	s, err := fromEnvironment(t, place(t), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if s.Ready("serving") == nil {
		t.Error("got no error of a socket that is not there")
	}
}
