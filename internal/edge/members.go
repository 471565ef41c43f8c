package edge

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/dial"
)

// follow makes v one that is looked up, if s is a name that stands for several servers.
func (og *originSide) follow(o *config.Origin, s *config.Server, v *origin.Server) {
	q, several := queryOf(o, s)
	if !several {
		return
	}
	v.Authority = v.Address
	if s.SRV {
		v.Address, v.Authority = s.Host, s.Host
		if v.TLS != nil && v.TLS.ServerName == "" {
			v.TLS = v.TLS.Clone()
			v.TLS.ServerName = s.Host
		}
	}
	v.Follow = func(set func([]origin.Member, error)) (stop func()) {
		change := &memberLog{log: og.log, origin: o.Name, url: s.URL()}
		return og.dialer.Follow(q, func(endpoints []dial.Endpoint, failure error) {
			members := membersOf(endpoints)
			change.note(members, failure)
			set(members, failure)
		})
	}
}

// queryOf returns what has to be looked up for a server, and whether it stands for several.
func queryOf(o *config.Origin, s *config.Server) (q dial.Query, several bool) {
	each := o.Resolve == config.ResolveAll
	if s.SRV {
		return dial.Query{Name: s.Address, SRV: true, Each: each}, true
	}
	if strings.HasPrefix(s.Address, socketPrefix) || !each {
		return dial.Query{}, false
	}
	host, port, err := net.SplitHostPort(s.Address)
	number, notPort := strconv.ParseUint(port, 10, 16)
	if _, notAddress := netip.ParseAddr(host); err != nil || notPort != nil || notAddress == nil || isThisHost(host) {
		return dial.Query{}, false
	}
	return dial.Query{Name: host, Port: uint16(number), Each: true}, true
}

// isThisHost reports whether the name is localhost, or below it (RFC 6761 section 6.3). Its two addresses are the same host, and most
// programs listen on one of them.
func isThisHost(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func membersOf(endpoints []dial.Endpoint) (out []origin.Member) {
	for _, e := range endpoints {
		m := origin.Member{Address: e.Dial(), Weight: e.Weight, Tier: e.Tier}
		if e.Address.IsValid() {
			m.Name = fmt.Sprintf("%s (%s)", net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))), e.Address)
		}
		out = append(out, m)
	}
	return out
}

// memberLog logs how the members of one server change. It is used by one goroutine at a time.
type memberLog struct {
	log         *slog.Logger
	origin, url string
	known       []string
	failing     bool
}

func (l *memberLog) note(members []origin.Member, failure error) {
	var now []string
	for _, m := range members {
		now = append(now, m.String())
	}
	log := l.log.With("origin", l.origin, "server", l.url)
	if joined, left := missing(now, l.known), missing(l.known, now); len(joined)+len(left) > 0 {
		log.Info("origin servers have changed", "servers", len(now), "joined", strings.Join(joined, ", "), "left", strings.Join(left, ", "))
	}
	switch {
	case failure != nil && !l.failing && len(now) > 0:
		log.Warn("an origin server cannot be looked up: those known stay in use", "servers", len(now), "error", failure)
	case failure != nil && !l.failing:
		log.Warn("an origin server cannot be looked up", "error", failure)
	case failure == nil && l.failing:
		log.Info("an origin server can be looked up again", "servers", len(now))
	}
	l.known, l.failing = now, failure != nil
}

// missing returns those of all that are not in others.
func missing(all, others []string) (out []string) {
	for _, s := range all {
		if !slices.Contains(others, s) {
			out = append(out, s)
		}
	}
	return out
}
