package testkit

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// NameServer is a DNS server on sockets of its own, UDP and TCP (RFC 1035). Names that it was told nothing of do not exist. It is safe for
// concurrent use.
type NameServer struct {
	Address string

	mu      sync.Mutex
	records map[string][]dns.RR // keys are names in lower case, with a dot at the end
	fails   bool
	cut     bool // answers by UDP are empty and truncated
	asked   int
	streams int
}

// StartNameServer starts one, which ends with the test.
func StartNameServer(tb testing.TB) *NameServer {
	tb.Helper()
	s := &NameServer{records: map[string][]dns.RR{}}
	var packets net.PacketConn
	var streams net.Listener
	for packets == nil { // one port for both
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		if packets, err = net.ListenPacket("udp", l.Addr().String()); err != nil {
			_ = l.Close()
			continue
		}
		streams = l
	}
	s.Address = packets.LocalAddr().String()
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: s}, {Listener: streams, Handler: s}} {
		started, ended := make(chan struct{}), make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() {
			defer close(ended)
			_ = server.ActivateAndServe() // until Shutdown
		}()
		<-started
		tb.Cleanup(func() {
			_ = server.Shutdown()
			<-ended
		})
	}
	return s
}

// SetAddresses says that a name has these addresses, by spaces, for so many seconds. No address: the name exists and has none.
func (s *NameServer) SetAddresses(name string, ttl uint32, addresses string) {
	records := []dns.RR{}
	for text := range strings.FieldsSeq(addresses) {
		if a := netip.MustParseAddr(text); a.Is4() {
			records = append(records, &dns.A{Hdr: head(name, dns.TypeA, ttl), A: a.AsSlice()})
		} else {
			records = append(records, &dns.AAAA{Hdr: head(name, dns.TypeAAAA, ttl), AAAA: a.AsSlice()})
		}
	}
	s.set(name, records)
}

// SRV is a record of a service (RFC 2782).
type SRV struct {
	Priority, Weight, Port uint16
	Target                 string
}

// SetSRV says that a name has these records.
func (s *NameServer) SetSRV(name string, ttl uint32, services ...SRV) {
	records := []dns.RR{}
	for _, v := range services {
		records = append(records, &dns.SRV{
			Hdr: head(name, dns.TypeSRV, ttl), Priority: v.Priority, Weight: v.Weight, Port: v.Port, Target: dns.Fqdn(v.Target),
		})
	}
	s.set(name, records)
}

func head(name string, of uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: dns.Fqdn(name), Rrtype: of, Class: dns.ClassINET, Ttl: ttl}
}

func (s *NameServer) set(name string, records []dns.RR) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[dns.CanonicalName(name)] = records
}

// Fail says whether all questions are answered with SERVFAIL.
func (s *NameServer) Fail(fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

// Truncate makes answers by UDP empty and truncated, so that the question comes again by TCP.
func (s *NameServer) Truncate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = true
}

// Asked returns how many questions came, and how many of them by TCP.
func (s *NameServer) Asked() (all, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.streams
}

// ServeDNS implements dns.Handler, for queries with one question.
func (s *NameServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	_ = w.WriteMsg(s.answer(query, w.RemoteAddr().Network() == "tcp"))
}

// answer returns the response to a query.
func (s *NameServer) answer(query *dns.Msg, stream bool) *dns.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if stream {
		s.streams++
	}
	m := new(dns.Msg).SetReply(query)
	m.RecursionAvailable = true
	records, known := s.records[dns.CanonicalName(query.Question[0].Name)]
	switch {
	case s.fails:
		m.Rcode = dns.RcodeServerFailure
	case !known:
		m.Rcode = dns.RcodeNameError
	case s.cut && !stream:
		m.Truncated = true
	default:
		for _, r := range records {
			if r.Header().Rrtype == query.Question[0].Qtype {
				m.Answer = append(m.Answer, r)
			}
		}
	}
	return m
}
