package edge

import (
	"maps"
	"net"
	"slices"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/proxy"
)

// said returns the problems of s as text.
func said(s *Status) (all []string) {
	for _, p := range s.problems() {
		all = append(all, p.String())
	}
	return all
}

// Each problem says of which kind it is: the dashboard goes by that.
func TestProblemsHaveAKind(t *testing.T) {
	days := int64(3)
	s := &Status{
		Origins: []OriginStatus{{Name: "shop"}}, Cache: CacheStatus{Disk: &DiskStatus{Trouble: "no"}},
		Certificates: []CertificateStatus{{Names: []string{"a.example"}, DaysLeft: &days}},
	}
	s.Requests.Totals.Lately = proxy.Lately{Requests: problemRequests, Errors: problemRequests, ErrorRatio: 1}
	var kinds []string
	for _, p := range s.problems() {
		kinds = append(kinds, p.Kind)
	}
	if want := []string{"errors", "origin", "disk", "certificate"}; !slices.Equal(kinds, want) {
		t.Errorf("got the kinds %q, want %q", kinds, want)
	}
}

func TestProblemsAreWhatIsWrongNow(t *testing.T) {
	up := func(none, failed int64) ServerStatus {
		return ServerStatus{Address: "a:80", State: "up", LastFailure: "connection refused", ClassesLately: map[string]int64{"2xx": 9, "none": none, "5xx": failed}}
	}
	out := func(state string) ServerStatus {
		return ServerStatus{Address: "b:80", State: state, EjectedFor: 3, LastFailure: "connection refused"} // a failure of days ago
	}
	rate := func(requests, errors int64) proxy.Lately {
		return proxy.Lately{Requests: requests, Errors: errors, ErrorRatio: float64(errors) / float64(requests)}
	}
	f := func(name string, with func(s *Status), want ...string) {
		t.Helper()
		s := &Status{Lately: 63, Origins: []OriginStatus{{Name: "shop", Servers: []ServerStatus{up(0, 0), out("up")}}}}
		with(s)
		if got := said(s); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	total := func(s *Status) *proxy.Lately { return &s.Requests.Totals.Lately }
	f("nothing", func(*Status) {})
	f("few errors", func(s *Status) { *total(s) = rate(1000, 10) })
	f("few requests", func(s *Status) { *total(s) = rate(9, 9) })
	f("a server refuses", func(s *Status) { *total(s), s.Origins[0].Servers[0] = rate(1000, 430), up(500, 3) },
		"43.0 % of requests failed in the last minute: origin shop, server a:80, connection refused")
	f("all servers refuse", func(s *Status) {
		*total(s), s.Origins[0].Servers, s.Lately = rate(10, 10), []ServerStatus{up(500, 3)}, 11.2
	}, "100.0 % of requests failed in the last 12 s: origin shop, connection refused")
	f("a server has errors, and a limit refuses", func(s *Status) {
		*total(s), s.Origins[0].Servers = rate(1000, 11), []ServerStatus{up(1, 3)}
		s.Limits.Refused = map[string]LimitCount{"origin_queue": {Lately: 8}, "rate": {Lately: 99}}
	}, "1.1 % of requests failed in the last minute: limit origin_queue; origin shop, status 5xx")
	f("errors of nobody's", func(s *Status) {
		*total(s) = rate(1000, 20)
		s.Requests.Routes = []proxy.RouteStatus{{Route: "a"}, {Route: "b", Lately: rate(99, 20)}}
	}, "2.0 % of requests failed in the last minute: route b")
	f("a small route fails", func(s *Status) {
		*total(s) = rate(10_000, 60)
		s.Requests.Routes = []proxy.RouteStatus{{Route: "a", Lately: rate(9900, 10)}, {Route: "b", Lately: rate(40, 20)}, {Route: "c", Lately: rate(60, 30)}}
	}, "50.0 % of its requests failed in the last minute: route c", "50.0 % of its requests failed in the last minute: route b")
	f("no server is up", func(s *Status) { s.Origins[0].Servers = []ServerStatus{out("ejected"), out("down")} }, "0 of 2 servers are up: origin shop")
	f("all servers are drained", func(s *Status) { s.Origins[0].Servers = []ServerStatus{out("drained"), out("drained")} }, "0 of 2 servers are up: origin shop, all drained")
	f("a server waits for its trial", func(s *Status) {
		s.Origins[0].Servers = []ServerStatus{out("down"), {Address: "b:80", State: "ejected"}}
	})
	f("a route fails, and of an origin few", func(s *Status) {
		*total(s), s.Origins[0].Servers = rate(1000, 400), []ServerStatus{up(0, 1)}
		s.Requests.Routes = []proxy.RouteStatus{{Route: "a", Lately: rate(500, 399)}}
	}, "40.0 % of requests failed in the last minute: route a")
	f("no server is known", func(s *Status) { s.Origins[0].Servers = nil }, "0 of 0 servers are up: origin shop")
	f("a disk is off", func(s *Status) {
		s.Cache.Disk = &DiskStatus{Trouble: outOfUse + "see the log", Directories: []DirectoryStatus{{Path: "/a"}, {Path: "/b", Trouble: "it\nhangs"}}}
	}, "a disk is off: /b: it hangs")
	f("the tier is off", func(s *Status) { s.Cache.Disk = &DiskStatus{Trouble: outOfUse + "see the log"} }, "the disk tier is off: see the log")
	f("certificates end", func(s *Status) {
		for _, days := range []int64{-1, 0, 1, 6, 7} {
			s.Certificates = append(s.Certificates, CertificateStatus{Names: []string{"a.example", "b.example", "c.example"}, DaysLeft: &days})
		}
		s.Certificates = append(s.Certificates, CertificateStatus{Names: []string{"new.example"}})
	}, "a certificate has expired: a.example, b.example", "a certificate expires within a day: a.example, b.example",
		"a certificate expires in a day: a.example, b.example", "a certificate expires in 6 days: a.example, b.example")
}

func TestProblemsOfAKindAreBounded(t *testing.T) {
	s := &Status{Origins: make([]OriginStatus, 100)}
	if got := len(s.problems()); got != problemsOfAKind {
		t.Errorf("got %d problems, want %d", got, problemsOfAKind)
	}
	if got := new(Status).problems(); got == nil {
		t.Error("got null, want an empty list")
	}
}

// An edge whose origin refused every connection looked like one that had a quiet day.
func TestAnOriginThatRefusesIsAProblem(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	c, err := config.FromFlags(config.Flags{Origin: "http://" + address, Listen: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	e := started(t, c)
	for range 12 {
		get(t, "http://"+e.Addresses()[0]+"/")
	}
	want := map[string]float64{"requests": 12, "errors": 12}
	eventually(t, "all are counted", func() bool { return e.Status().Requests.Totals.Lately.Requests == 12 })
	got := e.Status().Problems
	if len(got) == 0 || !maps.Equal(got[0].Numbers, want) || got[0].Where != "origin app, connection refused" {
		t.Errorf("got %+v, want %v of origin app, connection refused", got, want)
	}
}
