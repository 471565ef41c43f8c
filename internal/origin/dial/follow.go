package dial

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file follows what a name stands for: each of its addresses, or the hosts that its SRV records have.

// Query is what Follow looks up.
type Query struct {
	Name string // name of a host; or of SRV records (RFC 2782), if SRV is set
	Port uint16 // port of the host; with SRV each record has one
	SRV  bool
	Each bool // each address is an endpoint; otherwise each host of a record is one
}

// Endpoint is one place to connect to.
type Endpoint struct {
	Host    string     // host of Query, or of an SRV record; without a dot at the end
	Address netip.Addr // one of Host; the zero Addr if Query.Each is not set
	Port    uint16
	Tier    int // 0 is the records of the lowest priority, 1 the next, and so on
	Weight  int // among the endpoints of its tier; 1 or more
}

// Dial returns HOST:PORT, the argument of Dialer.Dial.
func (e *Endpoint) Dial() string {
	if e.Address.IsValid() {
		return netip.AddrPortFrom(e.Address, e.Port).String()
	}
	return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
}

// maxEndpoints is how many endpoints a name has at most. Of more, the first by tier, host and address are used.
const maxEndpoints = 256

// errNoRecords is the failure of a lookup without a usable record.
var errNoRecords = errors.New("no SRV records found")

// Follow looks q up again and again until stop is called, each time when the answer before may no longer be used, within bounds. It tells
// changed of the endpoints when they change. An endpoint leaves once three answers in a row are without it. A lookup that fails, or
// finds nothing, changes nothing: changed is told of the failure, and of the endpoints of before, when lookups begin to fail, and
// again when they do not any more. If the endpoints are known from another Follow of q, changed is called
// before Follow returns. Otherwise it is called from another goroutine, one call at a time; it must not call stop.
func (d *Dialer) Follow(q Query, changed func(endpoints []Endpoint, failure error)) (stop func()) {
	f := &follow{dialer: d, query: q, changed: changed, records: map[target]record{}, missing: sightings[target]{}, hosts: map[string]sightings[netip.Addr]{}}
	d.mu.Lock()
	f.told = d.followed[q]
	d.mu.Unlock()
	if f.told != nil {
		f.recall()
		changed(f.told, nil)
	}
	return d.repeat(0, f.look)
}

// target is where an SRV record leads to.
type target struct {
	host string
	port uint16
}

// record is what else an SRV record has.
type record struct{ priority, weight uint16 }

// follow is one Follow. It is used by one goroutine at a time.
type follow struct {
	dialer  *Dialer
	query   Query
	changed func([]Endpoint, error)

	records map[target]record                // records that have not left
	missing sightings[target]                // when records were seen last
	hosts   map[string]sightings[netip.Addr] // with Each: the addresses of the hosts of records

	told    []Endpoint // never written again
	failing bool       // changed was told of a failure
}

// recall makes what is told what the lookups before have found.
func (f *follow) recall() {
	for _, e := range f.told {
		to := target{e.Host, e.Port}
		f.records[to] = record{uint16(e.Tier), uint16(min(e.Weight, 1<<16-1))} //nolint:gosec // at most maxEndpoints tiers
		f.missing[to] = 0
		if e.Address.IsValid() {
			f.addressesOf(e.Host)[e.Address] = 0
		}
	}
}

// addressesOf returns the addresses of a host.
func (f *follow) addressesOf(host string) sightings[netip.Addr] {
	if f.hosts[host] == nil {
		f.hosts[host] = sightings[netip.Addr]{}
	}
	return f.hosts[host]
}

// look asks the resolver once, tells what has changed, and returns the time until the next look.
func (f *follow) look() time.Duration {
	wait, failure := f.lookUp()
	now := f.endpoints()
	if failure == nil && len(now) == 0 {
		failure = errNoRecords
	}
	if f.dialer.ctx.Err() != nil {
		return wait
	}
	if !slices.Equal(now, f.told) || (failure != nil) != f.failing {
		f.told, f.failing = now, failure != nil
		f.dialer.mu.Lock()
		f.dialer.followed[f.query] = now
		f.dialer.mu.Unlock()
		f.changed(now, failure)
	}
	if len(now) == 0 {
		return watchLeast // no request can be answered
	}
	return wait
}

// lookUp asks for the records, and then for the addresses. It returns the time for which the answers may be used, and the
// first failure.
func (f *follow) lookUp() (wait time.Duration, failure error) {
	if f.query.SRV {
		wait, failure = f.lookUpRecords()
	} else {
		wait = watchEvery
		f.records[target{f.query.Name, f.query.Port}] = record{}
	}
	if !f.query.Each {
		return wait, failure
	}
	f.forgetHosts()
	var mu sync.Mutex
	var all sync.WaitGroup
	for host, seen := range f.hosts {
		all.Go(func() {
			addrs, ttl, err := f.dialer.names.anew(host)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				seen.note(f.dialer.usable(unmapped(addrs)))
			}
			wait, failure = min(wait, pause(ttl)), cmp.Or(failure, err)
		})
	}
	all.Wait()
	return wait, failure
}

// lookUpRecords asks for the SRV records.
func (f *follow) lookUpRecords() (wait time.Duration, failure error) {
	found, ttl, err := f.dialer.askSRV(f.query.Name)
	if err != nil {
		return watchEvery, err
	}
	var answer []target
	for _, r := range found {
		to := target{strings.ToLower(strings.TrimSuffix(r.Target, ".")), r.Port}
		if to.host == "" || to.port == 0 { // "." says that there is no such service
			continue
		}
		answer = append(answer, to)
		f.records[to] = record{r.Priority, r.Weight}
	}
	if len(answer) == 0 {
		return pause(ttl), errNoRecords
	}
	for _, to := range f.missing.note(answer) {
		delete(f.records, to)
	}
	return pause(ttl), nil
}

// forgetHosts drops the hosts that no record has any more, and adds new ones.
func (f *follow) forgetHosts() {
	wanted := map[string]bool{}
	for to := range f.records {
		wanted[to.host] = true
		f.addressesOf(to.host)
	}
	maps.DeleteFunc(f.hosts, func(host string, _ sightings[netip.Addr]) bool { return !wanted[host] })
}

// endpoints returns what is known, in order, each place to connect to once. Nil: nothing is.
func (f *follow) endpoints() (out []Endpoint) {
	tiers, weights := f.ranks()
	for to, r := range f.records {
		e := Endpoint{Host: to.host, Port: to.port, Tier: tiers[r.priority], Weight: weights[to]}
		if !f.query.Each {
			out = append(out, e)
			continue
		}
		for e.Address = range f.hosts[to.host] {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Host, b.Host), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port))
	})
	seen := map[string]bool{} // two hosts may have one address
	out = slices.DeleteFunc(out, func(e Endpoint) bool {
		twice := seen[e.Dial()]
		seen[e.Dial()] = true
		return twice
	})
	return out[:min(len(out), maxEndpoints)]
}

// zeroShare is how many times as many requests as a record of weight 0 one of the smallest other weight gets.
const zeroShare = 100

// ranks returns the tier of each priority, and the weight of each record whose addresses are known. Weights are relative to the others of the same priority, in
// the lowest terms. One of 0 has a very small one beside others (RFC 2782); if all are 0, they are equal.
func (f *follow) ranks() (tiers map[uint16]int, weights map[target]int) {
	tiers, weights = map[uint16]int{}, map[target]int{}
	by := map[uint16][]target{}
	for to, r := range f.records {
		if !f.query.Each || len(f.hosts[to.host]) > 0 {
			by[r.priority] = append(by[r.priority], to)
		}
	}
	for i, priority := range slices.Sorted(maps.Keys(by)) {
		tiers[priority] = i
		divisor, zero := 0, false
		for _, to := range by[priority] {
			w := int(f.records[to].weight)
			divisor, zero = gcd(divisor, w), zero || w == 0
		}
		for _, to := range by[priority] {
			w := int(f.records[to].weight) / max(divisor, 1)
			if zero && w > 0 {
				w *= zeroShare
			}
			weights[to] = max(w, 1)
		}
	}
	return tiers, weights
}

// gcd returns the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// usable returns addrs without those of a family that this machine has no route for, if the other family has one.
func (d *Dialer) usable(addrs []netip.Addr) []netip.Addr {
	if !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return a.Is4() != addrs[0].Is4() }) {
		return addrs
	}
	with := map[bool]bool{}
	for _, a := range addrs {
		with[a.Is4()] = with[a.Is4()] || d.options.Routed(a)
	}
	if with[true] == with[false] {
		return addrs
	}
	return slices.DeleteFunc(addrs, func(a netip.Addr) bool { return !with[a.Is4()] })
}

// askSRV asks the resolver for the SRV records of name.
func (d *Dialer) askSRV(name string) (records []*net.SRV, ttl time.Duration, err error) {
	defer d.options.Panics.Into(&err)
	ctx, cancel := context.WithTimeout(d.ctx, d.options.LookupTimeout)
	defer cancel()
	return d.options.LookupSRV(ctx, name)
}
