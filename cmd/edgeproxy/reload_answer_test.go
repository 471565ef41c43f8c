package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/edge"
)

// TestReloadEndsByWhetherTheFileWasApplied: the last line says so, and so does the log of a reload by SIGHUP.
func TestReloadEndsByWhetherTheFileWasApplied(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf("origins: {app: {servers: [%q]}}\n", cachedOrigin(t))
	c := serveFile(t, good)
	last := func(text string) string {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return lines[len(lines)-1]
	}
	got := c.change(withPorts(good + "limits: {ranges: 4, write_idle_timeout: 20s}\ncache_status: {send: none}\n"))
	if want := "applied: 2 settings have changed, and 1 needs a restart"; got.code != exitDone || last(got.stdout) != want {
		t.Errorf("got %d, %q %q, want %q at the end", got.code, got.stdout, got.stderr, want)
	}
	if got := c.reload(); got.code != exitDone || !strings.HasPrefix(last(got.stdout), "unchanged: no setting has changed") {
		t.Errorf("the same file: got %d, %q %q", got.code, got.stdout, got.stderr)
	}
	c.write(good + "limits: {ranges: x}\ncache_status: {sent: none}\n")
	if got, want := c.reload(), "refused: 2 problems; the configuration before stays in force"; got.code != exitUsage || got.stdout != "" || last(got.stderr) != want {
		t.Errorf("a file with mistakes: got %d, %q %q, want %q at the end", got.code, got.stdout, got.stderr, want)
	}
	c.signal(syscall.SIGHUP)
	eventually(t, "the log of the signal says that it was refused", func() bool { return c.loggedResult("hangup", edge.ResultRefused) })
	c.write(good)
	c.signal(syscall.SIGHUP)
	eventually(t, "the log of the signal says that it was applied, or was by the watch", func() bool {
		return c.loggedResult("hangup", edge.ResultApplied) || c.loggedResult("hangup", edge.ResultUnchanged)
	})
}

// loggedResult reports whether the log has a line of a reload with this cause and result.
func (c *configured) loggedResult(cause, result string) bool {
	return slices.ContainsFunc(c.lines(), func(l logLine) bool { return l.Cause == cause && l.Result == result })
}

// A connection that broke during a reload looked like a reload that had failed.
func TestABrokenAnswerLookedLikeAFailedReload(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer broken.Close()
	const unknown = "whether the file was applied is not known"
	if _, err := askReload(t.Context(), broken.Listener.Addr().String(), ""); err == nil || !strings.Contains(err.Error(), unknown) {
		t.Errorf("got %v, want %q in it", err, unknown)
	}
	if _, err := askReload(t.Context(), "127.0.0.1:1", ""); err == nil || strings.Contains(err.Error(), unknown) || !strings.Contains(err.Error(), "is the proxy running") {
		t.Errorf("without a proxy: got %v, want that nothing was asked", err)
	}
}

// The command gave up after three minutes, and said nothing until then.
func TestALongReloadSaysThatItStillWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		stop := sayWaiting(&said, waitNotice)
		time.Sleep(2*waitNotice + time.Second)
		stop()
		want := "edgeproxy: reload: no answer after 10s: the proxy is still busy with the file\n"
		if got := said.String(); got != want+strings.Replace(want, "10s", "20s", 1) {
			t.Errorf("got %q, want it twice: %q", got, want)
		}
		time.Sleep(time.Hour)
		if strings.Count(said.String(), "\n") != 2 {
			t.Errorf("after the answer: got %q", said.String())
		}
	})
}
