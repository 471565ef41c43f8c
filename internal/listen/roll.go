package listen

import (
	"hash/maphash"
	"net"
	"sync"
	"sync/atomic"
)

// rollSlots bounds the slots of a roll; where there are more connections some share one.
const rollSlots = 1 << 14

// roll finds the member that a connection belongs to, twice in each request, by the hash of
// the pointer. A sync.Map would take more steps. Finding takes no mutex. To add or remove, the
// caller must hold that of the Crowd.
type roll struct {
	seed   maphash.Seed
	slots  []atomic.Pointer[member] // of TCP; members of a slot are linked by next
	others sync.Map                 // of the bare net.Conn to the *member
}

func newRoll(connections int) roll {
	slots := 1
	for slots < min(connections, rollSlots) {
		slots *= 2
	}
	return roll{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[member], slots)}
}

func (r *roll) slot(tcp *net.TCPConn) *atomic.Pointer[member] {
	return &r.slots[maphash.Comparable(r.seed, tcp)%uint64(len(r.slots))]
}

// find returns nil for a connection that is not there.
func (r *roll) find(conn net.Conn) *member {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn = bare(conn)
		if tcp, ok = conn.(*net.TCPConn); !ok {
			m, _ := r.others.Load(conn)
			found, _ := m.(*member)
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

func (r *roll) add(m *member) {
	if m.tcp == nil {
		r.others.Store(m.conn, m)
		return
	}
	slot := r.slot(m.tcp)
	m.next.Store(slot.Load())
	slot.Store(m)
}

func (r *roll) remove(m *member) {
	if m.tcp == nil {
		r.others.Delete(m.conn)
		return
	}
	for at := r.slot(m.tcp); ; {
		other := at.Load()
		switch other {
		case nil:
			return
		case m: // who stands at m goes on by its next
			at.Store(m.next.Load())
			return
		}
		at = &other.next
	}
}
