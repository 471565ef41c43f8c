package acme

import (
	"context"
	"time"
)

const (
	firstRetry   = time.Minute
	longestRetry = time.Hour // authorities allow five failures of a name an hour
	// longestOrder is the time limit for one name, from the order to the certificate.
	longestOrder = 10 * time.Minute
)

// missingName is a name without a certificate.
type missingName struct {
	name string
	next time.Time     // time of the next try
	wait time.Duration // from the next failure to the try after it
}

// renewDue renews certificates that came due while the process did not run. Certmagic's
// maintenance would begin only after a pause.
func (m *Manager) renewDue() {
	if err := m.cache.RenewManagedCertificates(m.ctx); err != nil && m.ctx.Err() == nil {
		m.o.Log.Error("certificates were not renewed", "error", err)
	}
}

// obtainMissing orders the missing certificates, one name after the other, until none is missing.
func (m *Manager) obtainMissing() {
	missing := m.missing()
	for len(missing) > 0 && m.sleepUntil(earliest(missing)) {
		var still []missingName
		for _, w := range missing {
			if w.next.After(m.o.Now()) || !m.tryObtain(&w) {
				still = append(still, w)
			}
		}
		missing = still
	}
}

func (m *Manager) missing() (out []missingName) {
	for _, name := range m.o.Names {
		if m.Certificate(name) == nil {
			out = append(out, missingName{name: name, next: m.o.Now(), wait: m.o.Retry})
		}
	}
	return out
}

func earliest(all []missingName) time.Time {
	first := all[0].next
	for _, w := range all[1:] {
		if w.next.Before(first) {
			first = w.next
		}
	}
	return first
}

// tryObtain calls obtain, guarded. If obtain panics, it sets the time of the next try.
func (m *Manager) tryObtain(w *missingName) (obtained bool) {
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

// obtain orders the certificate of w and reports whether w has it now. If the order fails,
// it sets the time of the next try.
func (m *Manager) obtain(w *missingName) bool {
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
	m.failures.Add(1) // after the log line, so that the line is there when the count is seen
	w.next = m.o.Now().Add(w.wait)
	w.wait = min(2*w.wait, longestRetry)
	return false
}

// sleepUntil waits until t. It returns false if the Manager closes before.
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
