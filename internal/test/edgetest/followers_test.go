package edgetest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// headOf is what a follower and a later hit have in common: status and fields but for what
// says how this very answer was made. A hit knows its length, a follower perhaps not yet.
func headOf(r *reply) string {
	h := r.Header.Clone()
	for _, name := range []string{"Age", "Cache-Status", "Content-Length"} {
		h.Del(name)
	}
	var b strings.Builder
	_ = h.Write(&b) // sorted
	return fmt.Sprintf("%d\n%strailers %v", r.StatusCode, b.String(), r.Trailer)
}

// sharedAnswer is an origin's answer to two clients at once, drawn at random: some fields
// that are for the first one alone, others that are for all.
func sharedAnswer(r *rand.Rand, target string) string {
	some := func(all ...string) string { return all[r.IntN(len(all))] }
	lines := []string{
		"origin " + target + some("", " 404", " 301", " 200"),
		"  Cache-Control: max-age=60" + some("", ", private=\"X-User\"", ", no-cache=\"x-user, X-Once\"", ", private=\"Set-Cookie2, Warning\"") +
			some("", ", private=\"X-Once\"", ", public", ", no-cache=\"X-All\""),
		"  delay 1s", "  body 0123456789",
	}
	for _, line := range []string{
		"X-User: leader", "X-Once: leader", "X-All: a", "X-All: b", "Warning: 199 - x", "Set-Cookie2: a=b", "Age: 7", "Via: 1.1 inside",
		"Cache-Status: inside; hit", "Surrogate-Key: a b", "Cache-Tag: a", "ETag: \"v1\"", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT",
		"Content-Type: text/plain", "Content-Language: en", "Link: </a>; rel=x", "Connection: X-Hop", "X-Hop: leader", "Keep-Alive: timeout=5",
		"Trailer: X-Sum", "Vary: Accept-Encoding", "Content-Digest: x", "no-date", "chunked", "ranges",
	} {
		if r.IntN(3) == 0 {
			lines = append(lines, "  "+line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// sharedRequest is a request that may share a fetch; slices alone share that of a part.
func sharedRequest(r *rand.Rand, target string, sliced bool) string {
	lines := "GET " + target + " HTTP/1.1\r\nHost: edge.test\r\n"
	for _, line := range []string{"If-None-Match: \"v1\"", "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT", "TE: trailers", "Range: bytes=1-6"} {
		if r.IntN(4) == 0 && (sliced || !strings.HasPrefix(line, "Range")) {
			lines += line + "\r\n"
		}
	}
	return lines + "\r\n"
}

// TestFollowerGetsWhatAHitWould: a client whose own request the origin has not answered gets
// the head of a later hit, also where the origin has confirmed a stale response.
func TestFollowerGetsWhatAHitWould(t *testing.T) {
	const rounds = 150
	followed := map[string]int{}
	for seed := range uint64(4) {
		sliced, stale := seed%2 == 1, seed >= 2
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t)
			script := "config\n  admission: {policy: always}\n"
			if sliced {
				script += "small cache.slice 4\n"
			}
			must(t, play(w, script))
			for n := range rounds {
				target := fmt.Sprintf("/%d", n)
				answer, text := sharedAnswer(r, target), sharedRequest(r, target, sliced)
				if strings.Contains(answer, "chunked") {
					text = strings.ReplaceAll(text, "Range: ", "X-Range: ") // a follower knows no length then
				}
				must(t, play(w, answer))
				if stale {
					must(t, play(w, "client GET "+target+"\nadvance 61s\n"))
				}
				leader, follower := w.begin(t, "GET "+target+" HTTP/1.1\r\nHost: edge.test\r\n\r\n"), (*exchange)(nil)
				synctest.Wait()
				follower = w.begin(t, text)
				<-leader.done
				got := <-follower.done
				synctest.Wait()
				hit := <-w.begin(t, text).done
				if !strings.HasSuffix(got.Header.Get("Cache-Status"), "; collapsed") || !hitOf(&hit) {
					continue
				}
				followed[fmt.Sprintf("sliced=%v stale=%v", sliced, stale)]++
				if a, b := headOf(&got), headOf(&hit); a != b {
					t.Errorf("%s%s: a follower got\n%s\nand a later hit\n%s", answer, text, a, b)
				}
			}
			must(t, w.books())
		})
	}
	for what, n := range followed {
		t.Logf("%s: %d of %d followers", what, n, rounds)
	}
	if len(followed) < 4 {
		t.Errorf("got followers of %v only, want them of all four kinds", followed)
	}
}

func hitOf(r *reply) bool {
	lines := r.Header[http.CanonicalHeaderKey("Cache-Status")]
	return len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], Node+"; hit")
}

// play takes the steps of a script.
func play(w *world, script string) error {
	steps, err := parse(script)
	if err != nil {
		return err
	}
	for i := range steps {
		if err := w.take(&steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) begin(tb testing.TB, text string) *exchange {
	tb.Helper()
	x, err := begin(w.clients, text)
	must(tb, err)
	return x
}
