package http2

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// TestH2specPasses runs the public suite for servers of HTTP/2, all of it, against an answer
// with some content.
func TestH2specPasses(t *testing.T) {
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		if r.Body == nil {
			say(a, "0123456789")
			return nil
		}
		return later(func() {
			_, _ = io.Copy(io.Discard, asReader{r.Body})
			say(a, "0123456789")
		})
	}}
	_, address := serve(t, e, func(o *Options) { o.Streams = 100 })
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	program := testkit.H2spec(t)
	out, err := exec.CommandContext(t.Context(), program, "--strict", "--timeout", fmt.Sprint(5), "-h", host, "-p", port).CombinedOutput()
	// Its code is 0, too, where it could not run a case.
	if !strings.Contains(string(out), wantPassed) || err != nil {
		t.Errorf("%v, want %q in\n%s", err, wantPassed, out)
	}
}

// wantPassed is how the suite ends: nothing is excepted.
const wantPassed = "146 tests, 146 passed, 0 skipped, 0 failed"
