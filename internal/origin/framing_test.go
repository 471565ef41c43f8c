package origin

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
)

func frameOf(method, text string) (head, framing, error) {
	h, err := parseHead(text, nil)
	if err != nil {
		return h, framing{}, err
	}
	f, err := frame(method, &h)
	return h, f, err
}

func TestFraming(t *testing.T) {
	f := func(method, text string, want framing) {
		t.Helper()
		h, got, err := frameOf(method, text)
		if err != nil || got != want {
			t.Errorf("%s %q: got %+v and error %v, want %+v", method, text, got, err, want)
		}
		if h.fields.Has("Transfer-Encoding") {
			t.Errorf("%s %q: Transfer-Encoding is still listed", method, text)
		}
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	f("GET", ok+"Content-Length: 5\r\n", framing{byLength, 5, true})
	f("GET", ok+"Content-Length: 0\r\n", framing{byNothing, 0, true})
	f("GET", ok+"Content-Length: 9223372036854775807\r\n", framing{byLength, 1<<63 - 1, true})
	f("GET", ok+"Transfer-Encoding: chunked\r\n", framing{byChunks, -1, true})
	f("GET", ok+"transfer-encoding : ChunKed\r\n", framing{byChunks, -1, true})
	f("GET", ok, framing{byClose, -1, false})
	f("GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n", framing{byLength, 5, false})
	f("GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n", framing{byLength, 5, false})
	f("GET", ok+"Content-Length: 5\r\nConnection: close\r\n", framing{byLength, 5, false})
	f("GET", ok+"Content-Length: 5\r\nConnection: x\r\nConnection: y,\tClose\r\n", framing{byLength, 5, false})
	f("GET", ok+"Content-Length: 5\r\nConnection: closed\r\n", framing{byLength, 5, true})
	// No body, whatever the fields say.
	f("HEAD", ok+"Content-Length: 5\r\n", framing{byNothing, 0, true})
	f("HEAD", ok+"Transfer-Encoding: chunked\r\n", framing{byNothing, 0, true})
	f("HEAD", ok, framing{byNothing, 0, true})
	f("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n", framing{byNothing, 0, true})
	f("GET", "HTTP/1.1 304 Not Modified\r\n", framing{byNothing, 0, true})
	f("GET", "HTTP/1.1 204 No Content\r\n", framing{byNothing, 0, true})
	f("GET", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n", framing{byNothing, 0, true})
	f("GET", "HTTP/1.1 100 Continue\r\n", framing{byNothing, 0, true})
	// An origin that announces a body where none may be might send it: not used again.
	f("GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n", framing{byNothing, 0, false})
	f("GET", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n", framing{byNothing, 0, false})
	f("GET", "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n", framing{byNothing, 0, false})
}

func TestConflictingFramingIsRefused(t *testing.T) {
	for _, lines := range []string{
		"Content-Length: 5\r\nContent-Length: 6\r\n",
		"Content-Length: 5, 6\r\n",
		"Content-Length: 5\r\nContent-Length: 05\r\n",
		"Content-Length: 5,\r\n",
		"Content-Length:\r\n",
		"Content-Length: +5\r\n",
		"Content-Length: -5\r\n",
		"Content-Length: 0x5\r\n",
		"Content-Length: 5 5\r\n",
		"Content-Length: 5.0\r\n",
		"Content-Length: 9223372036854775808\r\n",
		"Content-Length: 18446744073709551621\r\n",
		"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: gzip, chunked\r\n",
		"Transfer-Encoding: chunked, chunked\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: xchunked\r\n",
		"Transfer-Encoding: chunked;q=1\r\n",
		"Transfer-Encoding: identity\r\n",
		"Transfer-Encoding:\r\n",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			if _, got, err := frameOf(method, "HTTP/1.1 200 OK\r\n"+lines); kindOf2(err) != Malformed {
				t.Errorf("%s %q: got %+v and error %v, want malformed", method, lines, got, err)
			}
		}
	}
	if _, got, err := frameOf("GET", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n"); kindOf2(err) != Malformed {
		t.Errorf("chunked in HTTP/1.0: got %+v and error %v, want malformed", got, err)
	}
}

func TestEqualContentLengthsBecomeOne(t *testing.T) {
	h, f, err := frameOf("GET", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nA: b\r\nContent-Length: 5\r\n")
	want := field.List{{Name: "Content-Length", Value: "5"}, {Name: "A", Value: "b"}}
	if err != nil || f.length != 5 || !cmp.Equal(h.fields, want) {
		t.Errorf("got %q, %+v and error %v, want %q", h.fields, f, err, want)
	}
}

func TestKeepFor(t *testing.T) {
	f := func(value string, want time.Duration) {
		t.Helper()
		got := keepFor(field.List{{Name: "Keep-Alive", Value: value}}, time.Minute)
		if got != want {
			t.Errorf("Keep-Alive: %s: got %v, want %v", value, got, want)
		}
	}
	f("timeout=5", 4*time.Second)
	f("max=100, Timeout=5", 4*time.Second)
	f("timeout=5, max=100", 4*time.Second)
	f("timeout=600", time.Minute)
	f("timeout=2147483647", time.Minute)
	f("timeout=99999999999999999999", time.Minute)
	f("timeout=1", 0)
	f("timeout=0", -time.Second)
	f("timeout=x", time.Minute)
	f("timeout=-3", time.Minute)
	f("timeout", time.Minute)
	f("", time.Minute)
	if got := keepFor(nil, time.Minute); got != time.Minute {
		t.Errorf("without the field: got %v, want the limit", got)
	}
}
