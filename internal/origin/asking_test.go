package origin

import (
	"context"
	"testing"
)

// A flight's context calls back by itself; one around it that does not pass that on costs each fetch a goroutine.
func TestAskingPassesCallsOn(t *testing.T) {
	var called bool
	a := &Asking{Context: calling{context.Background(), &called}}
	if !afterFunc(a, func() {})() || !called {
		t.Error("the context within was not asked")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	a = &Asking{Context: ctx}
	afterFunc(a, func() { close(ended) })
	cancel()
	<-ended
	if a.Err() == nil || a.Value(askingKey{}) != a {
		t.Errorf("got %v and %v", a.Err(), a.Value(askingKey{}))
	}
}

// calling is a context with an AfterFunc of its own.
type calling struct {
	context.Context
	called *bool
}

func (c calling) AfterFunc(func()) func() bool {
	*c.called = true
	return func() bool { return true }
}
