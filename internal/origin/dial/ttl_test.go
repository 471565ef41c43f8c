package dial

import (
	"net"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// The lifetime is the shortest of all records of the answers, by UDP and by TCP.
func TestLookupsTellTheLifetimeOfTheirRecords(t *testing.T) {
	s := testkit.StartNameServer(t)
	o := Options{NameServer: s.Address}
	f := func(want time.Duration) {
		t.Helper()
		addrs, ttl, err := o.resolve(t.Context(), hostName)
		if err != nil || len(addrs) == 0 || ttl != want {
			t.Errorf("got %v for %v and error %v, want it for %v", addrs, ttl, err, want)
		}
	}
	for range 2 {
		s.SetAddresses(hostName, 30, "10.0.0.1 10.0.0.2 fd00::1")
		f(30 * time.Second)
		s.SetAddresses(hostName, 0, "10.0.0.1")
		f(watchLeast)
		s.SetAddresses(hostName, 1<<31, "10.0.0.1") // such a TTL counts like 0
		f(watchLeast)
		s.SetSRV("_http._tcp.app.test.", 7, testkit.SRV{Priority: 1, Weight: 2, Port: 8080, Target: "a.test"}, testkit.SRV{Port: 81, Target: "b.test"})
		records, ttl, err := o.resolveSRV(t.Context(), "_http._tcp.app.test.")
		if err != nil || ttl != 7*time.Second || len(records) != 2 || *records[1] != (net.SRV{Target: "a.test.", Port: 8080, Priority: 1, Weight: 2}) {
			t.Errorf("got %v for %v and error %v, want both records for 7s", records, ttl, err)
		}
		s.Truncate()
	}
	if _, streams := s.Asked(); streams == 0 {
		t.Error("got no question by TCP after truncated answers")
	}
}

// /etc/hosts says nothing of a lifetime, and no server is asked.
func TestANameInEtcHostsHasNoLifetime(t *testing.T) {
	s := testkit.StartNameServer(t)
	o := Options{NameServer: s.Address}
	addrs, ttl, err := o.resolve(t.Context(), "localhost")
	if asked, _ := s.Asked(); err != nil || len(addrs) == 0 || ttl != 0 || asked > 0 {
		t.Errorf("got %v for %v, error %v and %d questions, want addresses, no lifetime and no question", addrs, ttl, err, asked)
	}
}

func TestWhatIsNoMessageHasNoLifetime(t *testing.T) {
	var l lifetime
	for _, text := range []string{"", "x", "\x00\x01\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00", "\x00\x01\x81\x80\x00\x00\x00\x01\x00\x00\x00\x00\x00"} {
		l.note([]byte(text))
	}
	if got := l.shortest(); got != 0 {
		t.Errorf("got %v, want none", got)
	}
}

func TestRoutedAsksTheSystem(t *testing.T) {
	if !routed(addresses("127.0.0.1")[0]) {
		t.Error("got no route to 127.0.0.1")
	}
}
