package proxy

import (
	"bytes"
	"sync"
)

// unnamedSites are hosts without a name of their own, an address or a name without a dot, of which something was stored since the start.
// Those of sites are never here: their names say that they are sites. See knowsSite.
type unnamedSites struct {
	mu    sync.RWMutex
	hosts map[string]struct{}
}

// mostUnnamedSites bounds them, as a client may ask for any number of hosts. Beyond it none is added.
const mostUnnamedSites = 1 << 12

// note notes a host of which something is about to be stored.
func (s *unnamedSites) note(host []byte) {
	if !mayNameNoSite(host) || s.has(host) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = map[string]struct{}{}
	}
	if len(s.hosts) < mostUnnamedSites {
		s.hosts[string(host)] = struct{}{}
	}
}

// has reports whether something was stored of a host.
func (s *unnamedSites) has(host []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, known := s.hosts[string(host)]
	return known
}

// mayNameNoSite reports whether a host may be an address or a name without a dot: also of some others it says so.
func mayNameNoSite(host []byte) bool {
	if len(host) == 0 {
		return false
	}
	last := host[len(host)-1]
	return last == ']' || '0' <= last && last <= '9' || bytes.IndexByte(host, '.') < 0
}
