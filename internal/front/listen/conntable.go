package listen

import (
	"hash/maphash"
	"net"
	"sync"
	"sync/atomic"
)

// connTableSlots bounds the slots of a connTable; with more connections some share one.
const connTableSlots = 1 << 14

// connTable finds the limitedConn of a net.Conn, twice in each request, by the hash of the pointer. A
// sync.Map would take more steps. Finding takes no mutex. To add or remove, the caller must hold that
// of the ConnLimiter.
type connTable struct {
	seed   maphash.Seed
	slots  []atomic.Pointer[limitedConn] // connections by TCP; next links those of a slot
	others sync.Map                      // others: a *limitedConn under its bare net.Conn
}

func newConnTable(connections int) connTable {
	slots := 1
	for slots < min(connections, connTableSlots) {
		slots *= 2
	}
	return connTable{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[limitedConn], slots)}
}

func (r *connTable) slot(tcp *net.TCPConn) *atomic.Pointer[limitedConn] {
	return &r.slots[maphash.Comparable(r.seed, tcp)%uint64(len(r.slots))]
}

// find returns nil for a connection that is not there.
func (r *connTable) find(conn net.Conn) *limitedConn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn = bare(conn)
		if tcp, ok = conn.(*net.TCPConn); !ok {
			m, _ := r.others.Load(conn)
			found, _ := m.(*limitedConn)
			return found
		}
	}
	for m := r.slot(tcp).Load(); m != nil; m = m.next.Load() {
		if m.tcp == tcp {
			return m
		}
	}
	return nil
}

func (r *connTable) add(m *limitedConn) {
	if m.tcp == nil {
		r.others.Store(m.conn, m)
		return
	}
	slot := r.slot(m.tcp)
	m.next.Store(slot.Load())
	slot.Store(m)
}

func (r *connTable) remove(m *limitedConn) {
	if m.tcp == nil {
		r.others.Delete(m.conn)
		return
	}
	for at := r.slot(m.tcp); ; {
		other := at.Load()
		switch other {
		case nil:
			return
		case m: // a reader that is at m goes on by m.next
			at.Store(m.next.Load())
			return
		}
		at = &other.next
	}
}
