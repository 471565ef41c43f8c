package model

import "time"

// Lifetime says how long a response for an object is fresh, and what becomes of it then. The zero value never expires.
type Lifetime struct {
	// Fresh is how long, from when it was fetched or validated, in whole seconds; 0 is forever.
	Fresh time.Duration
	// Validates says that the origin can validate it afterwards: it answers without a body, and what is stored is fresh again.
	Validates bool
}

// ages knows when what is stored by an exact model expires, and drops what is of no use then.
type ages struct {
	lifetimes []Lifetime
	since     []int64    // for each object when it was fetched or validated
	order     byPriority // objects in the order of expiry: those of the main part that nothing can validate, and some that have left it
	now       int64
	expired   int64 // dropped from the main part
}

func newAges(lifetimes []Lifetime) *ages {
	a := &ages{lifetimes: lifetimes, since: make([]int64, len(lifetimes))}
	a.order.of = make([]ranked, len(lifetimes))
	return a
}

// fresh reports whether i, which is stored, may be used.
func (a *ages) fresh(i uint32) bool {
	l := a.lifetimes[i].Fresh
	return l == 0 || a.now-a.since[i] < int64(l)
}

// renew notes that i was fetched, or validated.
func (a *ages) renew(i uint32) {
	if a != nil {
		a.since[i] = a.now
	}
}

// entered notes that i is in the main part.
func (a *ages) entered(i uint32) {
	if a == nil || a.lifetimes[i].Fresh == 0 || a.lifetimes[i].Validates {
		return
	}
	o := &a.order.of[i]
	o.priority = float64(a.since[i] + int64(a.lifetimes[i].Fresh))
	if o.index == 0 {
		a.order.push(i)
	} else {
		a.order.down(int(o.index - 1)) // time makes it no less
	}
}

// clear drops what is of no use any more from main.
func (a *ages) clear(main mainPart) {
	for a != nil && len(a.order.all) > 0 && a.order.of[a.order.all[0]].priority <= float64(a.now) {
		a.drop(main, a.order.pop())
	}
}

// drop drops i from main, if it is still there.
func (a *ages) drop(main mainPart, i uint32) {
	if main.drop(i) {
		a.expired++
	}
}
