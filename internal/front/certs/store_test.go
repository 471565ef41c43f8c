package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

// signer writes certificates. Certificate n expires n hours from now.
type signer struct {
	*testkit.Authority
	hours time.Duration
}

// write makes the next certificate, for these names, and writes it and its key.
func (s *signer) write(t *testing.T, p Pair, names ...string) {
	t.Helper()
	s.hours++
	testkit.WritePair(t, s.Sign(time.Now().Add(s.hours*time.Hour), names...), p.Certificate, p.Key)
}

func pairIn(dir, name string) Pair {
	return Pair{filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")}
}

func open(t *testing.T, log *bytes.Buffer, pairs ...Pair) *Store {
	t.Helper()
	s, err := New(pairs, slog.New(slog.NewTextHandler(log, nil)), time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// shows compares the serial number of what a client gets that asks for name.
func shows(t *testing.T, s *Store, name string, serial int64) {
	t.Helper()
	c := s.Find(Name(&tls.ClientHelloInfo{ServerName: name}))
	if c == nil {
		c = s.First()
	}
	if c.Leaf.SerialNumber.Int64() != serial {
		t.Errorf("%q: got %v, want number %d", name, c.Leaf.SerialNumber, serial)
	}
}

func TestTheNameChoosesTheCertificate(t *testing.T) {
	dir, sign := t.TempDir(), &signer{Authority: testkit.NewAuthority(t)}
	a, b, c := pairIn(dir, "a"), pairIn(dir, "b"), pairIn(dir, "c")
	sign.write(t, a, "example.com", "Www.Example.com")
	sign.write(t, b, "*.example.com", "example.com")
	sign.write(t, c, "example.org")
	s := open(t, &bytes.Buffer{}, a, b, c)
	shows(t, s, "example.com", 1)
	shows(t, s, "www.example.com", 1)
	shows(t, s, "WWW.example.COM.", 1)
	shows(t, s, "shop.example.com", 2)
	shows(t, s, "a.shop.example.com", 1) // a star is one label
	shows(t, s, "example.org", 3)
	shows(t, s, "example.net", 1)
	shows(t, s, "", 1)
	shows(t, s, ".", 1)
	if got := time.Until(s.Expiry()); got > time.Hour || got < 50*time.Minute {
		t.Errorf("the first ends in %v, want an hour", got)
	}
	hello := &tls.ClientHelloInfo{ServerName: "shop.example.com"}
	if got := testing.AllocsPerRun(100, func() { _ = s.Find(Name(hello)) }); got > 1 {
		t.Errorf("got %v allocations, want none but for the name of a star", got)
	}
}

func TestAChangedFileIsTakenOver(t *testing.T) {
	dir, sign := t.TempDir(), &signer{Authority: testkit.NewAuthority(t)}
	a, b := pairIn(dir, "a"), pairIn(dir, "b")
	sign.write(t, a, "a.example")
	sign.write(t, b, "b.example")
	var log bytes.Buffer
	s := open(t, &log, a, b)
	s.Close() // this test looks by itself
	s.refresh()
	if log.Len() > 0 {
		t.Errorf("nothing has changed: got %s", &log)
	}
	// Sizes and times may be the same within one tick of the clock; a renewal is never so quick.
	renew := func(p Pair, names ...string) {
		t.Helper()
		sign.write(t, p, names...)
		later := time.Now().Add(time.Duration(sign.hours) * time.Minute)
		for _, path := range []string{p.Certificate, p.Key} {
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}
	}
	renew(b, "b.example", "c.example")
	s.refresh()
	shows(t, s, "a.example", 1)
	shows(t, s, "b.example", 3)
	shows(t, s, "c.example", 3)

	// Half of a renewal: the key is of another certificate. The old one stays until the
	// other half comes.
	other := pairIn(dir, "other")
	sign.write(t, other, "b.example")
	half, err := os.ReadFile(other.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Certificate, half, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(b.Certificate, time.Now().Add(time.Hour), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.refresh()
	shows(t, s, "b.example", 3)
	if !strings.Contains(log.String(), "the old one stays") {
		t.Errorf("got %s, want an error about the pair", &log)
	}
	if err := os.Remove(b.Key); err != nil {
		t.Fatal(err)
	}
	s.refresh()
	shows(t, s, "b.example", 3)
	renew(b, "b.example")
	s.refresh()
	shows(t, s, "b.example", 5)
}

// TestWhatCouldNotBeReadIsTriedAgain: what was wrong may be mended without a trace in size
// and time of the files, as by another mode, or by descriptors that are there again. The
// old certificate stayed until it ended.
func TestWhatCouldNotBeReadIsTriedAgain(t *testing.T) {
	dir, sign := t.TempDir(), &signer{Authority: testkit.NewAuthority(t)}
	p, next := pairIn(dir, "a"), pairIn(dir, "next")
	sign.write(t, p, "a.example")
	var log bytes.Buffer
	s := open(t, &log, p)
	s.Close() // this test looks by itself
	sign.write(t, next, "a.example")
	later := time.Now().Add(time.Hour)
	put := func(to string, content []byte) {
		t.Helper()
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(to, later, later); err != nil {
			t.Fatal(err)
		}
	}
	certificate, err := os.ReadFile(next.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(next.Key)
	if err != nil {
		t.Fatal(err)
	}
	put(p.Certificate, certificate)
	put(p.Key, make([]byte, len(key)))
	s.refresh()
	s.refresh()
	shows(t, s, "a.example", 1)
	if n := strings.Count(log.String(), "the old one stays"); n != 1 {
		t.Errorf("complained %d times, want once: %s", n, &log)
	}
	put(p.Key, key)
	s.refresh()
	shows(t, s, "a.example", 2)
}

func TestEachPairIsBlamedForItsOwn(t *testing.T) {
	dir, sign := t.TempDir(), &signer{Authority: testkit.NewAuthority(t)}
	good, other, none := pairIn(dir, "good"), pairIn(dir, "other"), pairIn(dir, "none")
	sign.write(t, good, "a.example")
	sign.write(t, other, "b.example")
	_, err := Load([]Pair{good, {good.Certificate, none.Key}, none, {good.Certificate, other.Key}})
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		t.Fatalf("got %v, want several errors", err)
	}
	want := []PairError{{Index: 1, Key: true}, {Index: 2}, {Index: 3}}
	for i, e := range joined.Unwrap() {
		p, ok := errors.AsType[*PairError](e)
		if !ok || i >= len(want) || p.Index != want[i].Index || p.Key != want[i].Key {
			t.Errorf("error %d: got %+v", i, e)
		}
	}
}

// loud is a log that panics.
type loud struct{ slog.Handler }

func (loud) Enabled(context.Context, slog.Level) bool  { return true }
func (loud) Handle(context.Context, slog.Record) error { panic("no log") }

// TestAPanicInALookEndedTheProcess: a panic ends only the check in which it happens.
func TestAPanicInALookEndedTheProcess(t *testing.T) {
	dir, sign := t.TempDir(), &signer{Authority: testkit.NewAuthority(t)}
	a := pairIn(dir, "a")
	sign.write(t, a, "example.com")
	synctest.Test(t, func(t *testing.T) {
		panics := 0
		s, err := New([]Pair{a}, slog.New(loud{slog.DiscardHandler}), time.Now, func(step func()) {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			step()
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(a.Certificate, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*checkInterval + checkInterval/2)
		synctest.Wait()
		if panics == 0 {
			t.Error("got no panic: this proves nothing")
		}
		s.Close()
	})
}
