package acme

import (
	"context"
	"time"
)

const (
	firstRetry   = time.Minute
	longestRetry = time.Hour // authorities allow five failures of a name an hour
	// longestOrder is for one name, from the order to the certificate.
	longestOrder = 10 * time.Minute
)

// wanted is a name without a certificate.
type wanted struct {
	name string
	next time.Time     // to try it
	wait time.Duration // after the next failure
}

// renewDue renews what has come due while nobody ran; certmagic's maintenance begins with a
// pause.
func (m *Manager) renewDue() {
	if err := m.cache.RenewManagedCertificates(m.ctx); err != nil && m.ctx.Err() == nil {
		m.o.Log.Error("certificates were not renewed", "error", err)
	}
}

// tend gets what is missing, one name after the other, until all are there.
func (m *Manager) tend() {
	missing := m.missing()
	for len(missing) > 0 && m.sleepUntil(earliest(missing)) {
		var still []wanted
		for _, w := range missing {
			if w.next.After(m.o.Now()) || !m.tries(&w) {
				still = append(still, w)
			}
		}
		missing = still
	}
}

func (m *Manager) missing() (out []wanted) {
	for _, name := range m.o.Names {
		if m.Certificate(name) == nil {
			out = append(out, wanted{name: name, next: m.o.Now(), wait: m.o.Retry})
		}
	}
	return out
}

func earliest(all []wanted) time.Time {
	first := all[0].next
	for _, w := range all[1:] {
		if w.next.Before(first) {
			first = w.next
		}
	}
	return first
}

// tries is obtain, also where that panics.
func (m *Manager) tries(w *wanted) (obtained bool) {
	at := m.o.Now()
	m.guarded(func() { obtained = m.obtain(w) })
	if !obtained && !w.next.After(at) {
		w.next = at.Add(w.wait)
	}
	return obtained
}

func (m *Manager) guarded(step func()) {
	if m.o.Guard == nil {
		step()
		return
	}
	m.o.Guard(step)
}

// obtain reports whether w has its certificate now.
func (m *Manager) obtain(w *wanted) bool {
	if m.ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(m.ctx, longestOrder)
	defer cancel()
	m.o.Log.Info("a certificate is ordered", "name", w.name, "directory", m.o.Directory)
	err := m.config.ManageSync(ctx, []string{w.name})
	switch c := m.Certificate(w.name); {
	case m.ctx.Err() != nil:
		return false
	case err == nil && c != nil:
		m.o.Log.Info("certificate obtained", "name", w.name, "expires", c.Leaf.NotAfter)
		return true
	}
	m.o.Log.Error("no certificate was obtained; handshakes for the name fail until one is", "name", w.name, "error", err, "retry_in", w.wait.String())
	m.failures.Add(1) // who sees it, finds the line
	w.next = m.o.Now().Add(w.wait)
	w.wait = min(2*w.wait, longestRetry)
	return false
}

// sleepUntil reports whether t has come before Close.
func (m *Manager) sleepUntil(t time.Time) bool {
	timer := time.NewTimer(t.Sub(m.o.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-m.ctx.Done():
		return false
	}
}
