package origin

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/origin/balance"
)

// A URL has one server, over each way that a request takes to a slot: at hand, after a try in vain, and out of the queue.
func TestARequestGoesByWhatItIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startCluster(t, Options{Settings: Settings{Balance: balance.Hash, MaxConnections: 1, QueueRequests: 9, QueueWait: time.Minute}}, once, once, once)
		first := map[string]string{}
		for i := range 30 {
			path := fmt.Sprint("/", i)
			wantBody(t, o, get(path), "ok")
			first[path] = k.dialled()
		}
		for path, server := range first {
			wantBody(t, o, get(path), "ok")
			wantDialled(t, k, server)
			wantBody(t, o, &Request{Method: "POST", Target: path, Host: get(path).Host}, "ok")
			wantDialled(t, k, server)
			if c := o.Start(t.Context(), get(path)); c == nil {
				t.Fatal("no slot at hand")
			} else if c.Ready(); true {
				res, err := c.Finish()
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				wantDialled(t, k, server)
			}
		}
		k.set("a:80", nil)
		for path, server := range first {
			wantBody(t, o, get(path), "ok")
			if got := k.dialled(); server != "a" && got != server || server == "a" && got != "a b" && got != "a c" {
				t.Errorf("%s of %s: dialled %q", path, server, got)
			}
		}
	})
}
