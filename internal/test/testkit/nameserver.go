package testkit

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// NameServer is a DNS server on sockets of its own, UDP and TCP (RFC 1035). Names that it was told nothing of do not exist. It is safe for
// concurrent use.
type NameServer struct {
	Address string

	mu      sync.Mutex
	records map[string][]dnsmessage.Resource // by name, in lower case, with a dot at the end
	fails   bool
	cut     bool // answers by UDP are empty and truncated
	asked   int
	streams int
}

// StartNameServer starts one, which ends with the test.
func StartNameServer(tb testing.TB) *NameServer {
	tb.Helper()
	s := &NameServer{records: map[string][]dnsmessage.Resource{}}
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
	var running sync.WaitGroup
	running.Go(func() { s.servePackets(packets) })
	running.Go(func() { s.serveStreams(streams, &running) })
	tb.Cleanup(func() {
		_ = packets.Close()
		_ = streams.Close()
		running.Wait()
	})
	return s
}

// SetAddresses says that a name has these addresses, by spaces, for so many seconds. No address: the name exists and has none.
func (s *NameServer) SetAddresses(name string, ttl uint32, addresses string) {
	records := []dnsmessage.Resource{}
	for text := range strings.FieldsSeq(addresses) {
		a := netip.MustParseAddr(text)
		var body dnsmessage.ResourceBody = &dnsmessage.AAAAResource{AAAA: a.As16()}
		if a.Is4() {
			body = &dnsmessage.AResource{A: a.As4()}
		}
		records = append(records, record(name, ttl, body))
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
	records := []dnsmessage.Resource{}
	for _, v := range services {
		records = append(records, record(name, ttl, &dnsmessage.SRVResource{
			Priority: v.Priority, Weight: v.Weight, Port: v.Port, Target: dnsmessage.MustNewName(dotted(v.Target)),
		}))
	}
	s.set(name, records)
}

func record(name string, ttl uint32, body dnsmessage.ResourceBody) dnsmessage.Resource {
	return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(dotted(name)), Class: dnsmessage.ClassINET, TTL: ttl}, Body: body}
}

func (s *NameServer) set(name string, records []dnsmessage.Resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[strings.ToLower(dotted(name))] = records
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

func dotted(name string) string { return strings.TrimSuffix(name, ".") + "." }

func (s *NameServer) servePackets(c net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		_, _ = c.WriteTo(s.answer(buf[:n], false), from)
	}
}

func (s *NameServer) serveStreams(l net.Listener, running *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			defer func() { _ = c.Close() }()
			var length [2]byte
			if _, err := io.ReadFull(c, length[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(c, query); err != nil {
				return
			}
			answer := s.answer(query, true)
			_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)) //nolint:gosec // the tests' answers are short
		})
	}
}

// answer returns the response to a query with one question.
func (s *NameServer) answer(query []byte, stream bool) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	s.asked++
	if stream {
		s.streams++
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: h.ID, Response: true, RecursionDesired: true, RecursionAvailable: true}, Questions: []dnsmessage.Question{q}}
	records, known := s.records[strings.ToLower(q.Name.String())]
	switch {
	case s.fails:
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	case s.cut && !stream:
		m.Truncated = true
	default:
		for _, r := range records {
			if typeOf(r.Body) == q.Type {
				m.Answers = append(m.Answers, r)
			}
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

// typeOf returns the type of a record, which Pack sets only in its copy.
func typeOf(body dnsmessage.ResourceBody) dnsmessage.Type {
	switch body.(type) {
	case *dnsmessage.AResource:
		return dnsmessage.TypeA
	case *dnsmessage.AAAAResource:
		return dnsmessage.TypeAAAA
	}
	return dnsmessage.TypeSRV
}
