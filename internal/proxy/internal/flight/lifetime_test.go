package flight

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestLifetimeIsAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lifetime
		ran := map[string]int{}
		ended := make(chan string, 8)
		note := func(name string) func() { return func() { ended <- name } }
		forgetFirst := l.AfterFunc(note("first"))
		forgetSecond := context.AfterFunc(&l, note("second"))
		forgetThird := l.AfterFunc(note("third"))
		l.AfterFunc(note("fourth"))
		if !forgetSecond() || forgetSecond() || !forgetThird() || forgetThird() {
			t.Error("forget: want true once")
		}
		child, cancel := context.WithTimeout(&l, time.Hour)
		defer cancel()
		before := l.Done()
		select {
		case <-before:
			t.Error("done before its end")
		default:
		}
		if err := l.Err(); err != nil {
			t.Errorf("before its end: got %v", err)
		}
		l.end()
		l.end()
		<-before
		<-l.Done()
		if err := context.Cause(&l); !errors.Is(err, context.Canceled) {
			t.Errorf("after its end: got %v, want canceled", err)
		}
		<-child.Done()
		l.AfterFunc(note("late"))
		synctest.Wait()
		close(ended)
		for name := range ended {
			ran[name]++
		}
		if len(ran) != 3 || ran["first"] != 1 || ran["fourth"] != 1 || ran["late"] != 1 {
			t.Errorf("got %v, want the first, the fourth and the late one once", ran)
		}
		if forgetFirst() {
			t.Error("forget after the end: got true, want false")
		}
	})
}

func TestDoneOfALifetimeThatHasEnded(*testing.T) {
	var l lifetime
	l.end()
	<-l.Done()
	ctx, cancel := context.WithCancel(&l)
	defer cancel()
	<-ctx.Done()
}
