package model

import (
	"testing"

	"edgeproxy/internal/lab/trace"
)

func TestAQueueForgetsByAgeOrByUse(t *testing.T) {
	f := func(touch bool, left uint32) {
		t.Helper()
		q := NewQueue([]trace.Object{{Size: 40}, {Size: 40}, {Size: 40}}, 100, touch)
		q.Store(0)
		q.Store(1)
		if !q.Hit(0) || q.Hit(2) {
			t.Errorf("touch %v: got 0 held %v, 2 held %v, want yes and no", touch, q.Hit(0), q.Hit(2))
		}
		q.Store(2)
		if q.Hit(left) || !q.Hit(1-left) || !q.Hit(2) {
			t.Errorf("touch %v: want %d to be forgotten", touch, left)
		}
	}
	f(false, 0)
	f(true, 1)
}
