package main

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/lab/workload"
)

// This file makes the workloads in which what is asked for changes. All are the same in each run.

// maker collects requests.
type maker struct {
	rng  *rand.Rand
	size func() int64
	workload.Requests
}

func newMaker(seed uint64, size func(*rand.Rand) int64) *maker {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 0))}
	m.size = func() int64 { return size(m.rng) }
	return m
}

// object adds an object.
func (m *maker) object() uint32 {
	size := m.size()
	m.Objects = append(m.Objects, trace.Object{Size: size, Hi: m.rng.Uint64(), Lo: m.rng.Uint64()})
	m.Unique += size
	return uint32(len(m.Objects) - 1)
}

// some adds so many objects and returns the first one's number; the others follow.
func (m *maker) some(n int) uint32 {
	first := uint32(len(m.Objects))
	for range n {
		m.object()
	}
	return first
}

func (m *maker) ask(object uint32) {
	m.Accesses = append(m.Accesses, trace.Access{Object: object})
}

// law draws ranks from 0 by Zipf's law.
type law []float64

func newLaw(ranks int, exponent float64) law {
	l, sum := make(law, ranks), 0.0
	for i := range l {
		sum += 1 / math.Pow(float64(i+1), exponent)
		l[i] = sum
	}
	return l
}

func (l law) draw(rng *rand.Rand) uint32 {
	return uint32(sort.SearchFloat64s(l, rng.Float64()*l[len(l)-1]))
}

// logNormal draws sizes around a median of 8 KiB, up to 4 MiB.
func logNormal(rng *rand.Rand) int64 {
	return int64(min(8192*math.Exp(1.3*rng.NormFloat64()), 4<<20))
}

// shifts has five sets of objects. Every 60,000 requests the next one takes the place of the one before.
func shifts() *workload.Requests {
	m := newMaker(1, logNormal)
	l := newLaw(20_000, 0.9)
	for range 5 {
		first := m.some(len(l))
		for range 60_000 {
			m.ask(first + l.draw(m.rng))
		}
	}
	return &m.Requests
}

// scans has a set of objects, and after each 20,000 requests a crawler that asks twice for 5,000 pages, one pass after the other.
func scans() *workload.Requests {
	m := newMaker(2, logNormal)
	l := newLaw(20_000, 0.9)
	m.some(len(l))
	for range 10 {
		for range 20_000 {
			m.ask(l.draw(m.rng))
		}
		pages := m.some(5000)
		for range 2 {
			for i := range uint32(5000) {
				m.ask(pages + i)
			}
		}
	}
	return &m.Requests
}

// twoSizes has pages of about 8 KiB and, as popular, one file of 2 MiB for each 20 of them.
func twoSizes() *workload.Requests {
	m := newMaker(3, func(rng *rand.Rand) int64 {
		if rng.IntN(21) == 0 {
			return 2 << 20
		}
		return logNormal(rng)
	})
	l := newLaw(30_000, 0.8)
	m.some(len(l))
	for range 300_000 {
		m.ask(l.draw(m.rng))
	}
	return &m.Requests
}

// days has two sets of objects, of the day and of the night. Their shares of the requests swing eight times from one tenth to nine
// tenths and back. One request of five is for something new.
func days() *workload.Requests {
	m := newMaker(4, logNormal)
	l := newLaw(15_000, 0.9)
	sets := [2]uint32{m.some(len(l)), m.some(len(l))}
	const all, days = 400_000, 8
	for i := range all {
		if m.rng.IntN(5) == 0 {
			m.ask(m.object())
			continue
		}
		set, night := 0, 0.5+0.4*math.Sin(2*math.Pi*days*float64(i)/all)
		if m.rng.Float64() < night {
			set = 1
		}
		m.ask(sets[set] + l.draw(m.rng))
	}
	return &m.Requests
}

// lifetimes has objects that are fresh for 60 seconds, ten minutes or an hour, a third of each. The origin can validate two of three.
// There are 20 requests a second on average, for four hours.
func lifetimes() *workload.Requests {
	m := newMaker(6, logNormal)
	l := newLaw(20_000, 0.9)
	m.some(len(l))
	for range l {
		fresh := []time.Duration{time.Minute, 10 * time.Minute, time.Hour}[m.rng.IntN(3)]
		m.Lifetimes = append(m.Lifetimes, model.Lifetime{Fresh: fresh, Validates: m.rng.IntN(3) > 0})
	}
	const perSecond = 20
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	for range 4 * 3600 * perSecond {
		now += int64(m.rng.ExpFloat64() / perSecond * float64(time.Second))
		m.Accesses = append(m.Accesses, trace.Access{Object: l.draw(m.rng), At: now})
	}
	return &m.Requests
}
