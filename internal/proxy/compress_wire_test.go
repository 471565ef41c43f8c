package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/proxy/compress"
	"edgeproxy/internal/route/setting"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// gzips compresses text and JSON of 100 bytes or more.
func gzips(codings ...string) (yaml string) {
	if codings == nil {
		codings = []string{"gzip"}
	}
	return fmt.Sprintf("compress: {codings: [%s], min_bytes: 100B}\n", strings.Join(codings, ", "))
}

// page is text of n bytes.
func page(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "<li class=\"row\">entry %d of %x</li>\n", i, i*i)
	}
	return b.String()[:n]
}

const textFields = "Content-Type: text/html\r\nCache-Control: max-age=3600\r\nETag: \"a\"\r\n"

// says answers every request with a body of its length, head and body in one write.
func says(fields, body string) func(*edgetest.Conn) {
	return func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
		}
	}
}

func taking(coding, method, target, version, more string) string {
	return method + " " + target + " " + version + "\r\nHost: edge.test\r\nAccept-Encoding: " + coding + "\r\n" + more + "\r\n"
}

// wantPage holds an answer to the page in a coding, "" for none.
func (a answer) wantPage(t *testing.T, what, coding, cache, body string) {
	t.Helper()
	got, err := testkit.Decoded(a.header.Get("Content-Encoding"), a.body)
	if a.err != nil || err != nil || got != body || a.header.Get("Content-Encoding") != coding || a.cache != edgetest.Node+"; "+cache {
		t.Errorf("%s: got %d bytes of %q, %s, errors %v, %v; want %d of %q, %s", what, len(got), a.header.Get("Content-Encoding"), a.cache, a.err, err, len(body), coding, cache)
	}
}

// TestAWholeBodyIsCompressedAtOnce: a miss has a length, and the bytes of the hit behind it.
func TestAWholeBodyIsCompressedAtOnce(t *testing.T) {
	body := page(8000)
	for _, coding := range []string{"gzip", "br", "zstd"} {
		for _, policy := range []string{"stored", "held back", "not storable"} {
			fields, cache := textFields, "fwd=uri-miss; stored"
			rule := always
			switch policy {
			case "held back":
				rule, cache = "admission: {policy: never}\n", "fwd=uri-miss; detail=never"
			case "not storable":
				fields, cache = "Content-Type: text/html\r\nCache-Control: private\r\n", "fwd=uri-miss; detail=private"
			}
			e, _ := startBefore(t, rule+gzips(coding), says(fields, body))
			what := coding + ", " + policy
			miss := ask(t, e, taking(coding, "GET", "/a", "HTTP/1.1", ""))
			miss.wantPage(t, what, coding, cache, body)
			if n := miss.header.Get("Content-Length"); n != strconv.Itoa(len(miss.body)) || len(miss.body) > len(body)/2 {
				t.Errorf("%s: got Content-Length %q and %d bytes", what, n, len(miss.body))
			}
			if policy == "stored" {
				hit := ask(t, e, taking(coding, "GET", "/a", "HTTP/1.1", ""))
				if hit.body != miss.body || !strings.Contains(hit.cache, "; hit") || hit.header.Get("Content-Length") != strconv.Itoa(len(miss.body)) {
					t.Errorf("%s: the hit has %d bytes, %s", what, len(hit.body), hit.cache)
				}
			}
			if policy == "stored" {
				cache = "fwd=vary-miss; stored"
			}
			ask(t, e, taking("identity", "GET", "/a", "HTTP/1.1", "")).wantPage(t, what+", for another client", "", cache, body)
			in := e.Metric(t, "edgeproxy_compressed_in_bytes_total", "route=default", "coding="+coding)
			out := e.Metric(t, "edgeproxy_compressed_out_bytes_total", "route=default", "coding="+coding)
			if in != float64(len(body)) || out != float64(len(miss.body)) {
				t.Errorf("%s: counted %v in and %v out, want %d and %d", what, in, out, len(body), len(miss.body))
			}
		}
	}
}

// TestCompressedBytesGoOutAsTheyCome: the origin sends each piece only when the client has decoded the one before.
func TestCompressedBytesGoOutAsTheyCome(t *testing.T) {
	const pieces = 5
	f := func(coding, framing, method, version, control string, chunk func(string) string, last string) {
		t.Helper()
		t.Run(strings.Join([]string{coding, framing[:8], method, version[5:], control}, " "), func(t *testing.T) {
			next := make(chan struct{}, pieces+1)
			e, _ := startBefore(t, always+gzips("gzip", "br", "zstd"), func(c *edgetest.Conn) {
				for c.Next() != nil {
					c.Say("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: " + control + "\r\n" + framing + "\r\n\r\n")
					for i := range pieces {
						wait(next)
						c.Say(chunk(pieceOf(i)))
					}
					wait(next)
					c.Say(last)
				}
			})
			s := dial(t, e.Address)
			res, err := s.head(taking(coding, method, "/a", version, "Content-Length: 0\r\n"))
			if err != nil {
				t.Fatal(err)
			}
			next <- struct{}{}
			text, err := testkit.Decoder(res.Header.Get("Content-Encoding"), res.Body)
			if err != nil || res.Header.Get("Content-Encoding") != coding {
				t.Fatalf("got %v, %v", res.Header, err)
			}
			for i := range pieces {
				got := make([]byte, len(pieceOf(i)))
				if _, err := io.ReadFull(text, got); err != nil || string(got) != pieceOf(i) {
					t.Fatalf("piece %d: got %q, %v", i, got, err)
				}
				next <- struct{}{}
			}
			if rest, err := io.ReadAll(text); len(rest) > 0 || err != nil {
				t.Errorf("after the last piece: got %q, %v, want the end", rest, err)
			}
		})
	}
	plain := func(s string) string { return s }
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	length := fmt.Sprintf("Content-Length: %d", pieces*len(pieceOf(0)))
	for _, coding := range []string{"gzip", "br", "zstd"} {
		f(coding, "Transfer-Encoding: chunked", "GET", "HTTP/1.1", "max-age=3600", chunk, "0\r\n\r\n")
		f(coding, "Transfer-Encoding: chunked", "POST", "HTTP/1.1", "no-store", chunk, "0\r\n\r\n")
		f(coding, length, "GET", "HTTP/1.1", "max-age=3600", plain, "")
		f(coding, length, "GET", "HTTP/1.1", "no-store", plain, "")
		f(coding, length, "GET", "HTTP/1.0", "max-age=3600", plain, "")
	}
}

func pieceOf(i int) string { return fmt.Sprintf("piece %d of what comes, which is no short one", i) }

// TestALargeBodyIsCompressed: by memory and disk, and beyond what is stored.
func TestALargeBodyIsCompressed(t *testing.T) {
	const size = 3 << 20
	body := page(size)
	const small, onDisk = "memory: {max_object_bytes: 64KiB}, ", `disk: {path: "{dir}/disk", max_bytes: 64MiB, min_free: 0%}`
	for name, yaml := range map[string]string{"memory": "", "disk": onDisk, "the disk alone": small + onDisk, "too large": small} {
		t.Run(name, func(t *testing.T) {
			e, app := startBefore(t, always+gzips()+"cache: {"+yaml+"}", says(textFields, body))
			kept := name != "too large"
			miss := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.1", ""))
			miss.wantPage(t, "miss", "gzip", "fwd=uri-miss; stored", body)
			if len(miss.body) > size/2 || len(miss.body) < 64<<10 {
				t.Fatalf("got %d bytes: the test is of none of its cases", len(miss.body))
			}
			again := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.1", ""))
			if kept && again.body != miss.body || strings.Contains(again.cache, "; hit") != kept {
				t.Errorf("again: got %d bytes, %s", len(again.body), again.cache)
			}
			if !kept {
				// It is compressed anew, and flushed where it waits for the origin: other bytes of the same page.
				again.wantPage(t, "again", "gzip", "fwd=uri-miss; stored", body)
				if app.Requests() != 2 {
					t.Errorf("got %d requests to the origin", app.Requests())
				}
				return
			}
			part := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.1", "Range: bytes=70000-80000\r\n"))
			if part.err != nil || part.status != 206 || part.body != miss.body[70000:80001] || part.header.Get("Content-Encoding") != "gzip" {
				t.Errorf("a part: got %d, %d bytes, %v", part.status, len(part.body), part.err)
			}
		})
	}
}

// TestClientsOfHTTP10AndHTTP2 get what others get.
func TestClientsOfHTTP10AndHTTP2(t *testing.T) {
	body := page(100_000)
	e, _ := startBefore(t, always+gzips(), says(textFields, body))
	miss := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.0", ""))
	miss.wantPage(t, "HTTP/1.0, miss", "gzip", "fwd=uri-miss; stored", body)
	if miss.header.Get("Content-Length") != "" || miss.header.Get("Transfer-Encoding") != "" {
		t.Errorf("HTTP/1.0, miss: got %v", miss.header)
	}
	hit := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.0", ""))
	if hit.body != miss.body || hit.header.Get("Content-Length") != strconv.Itoa(len(miss.body)) {
		t.Errorf("HTTP/1.0, hit: got %d bytes, %v", len(hit.body), hit.header)
	}
	h2 := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	address := startHTTP2(t, e)
	defer h2.CloseIdleConnections()
	for _, target := range []string{"/a", "/b", "/b"} {
		r, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+address+target, http.NoBody)
		r.Header.Set("Accept-Encoding", "gzip")
		r.Host = "edge.test"
		res, err := h2.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if string(got) != miss.body || err != nil || res.ProtoMajor != 2 || res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Etag") != `W/"a"` {
			t.Errorf("HTTP/2, %s: got %d bytes, %v, %v", target, len(got), res.Header, err)
		}
	}
}

// TestAnOriginOfHTTP2IsCompressed, as it comes, and is cut as it is.
func TestAnOriginOfHTTP2IsCompressed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body, next := page(200_000), make(chan struct{}, 1)
	s := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = io.WriteString(w, body[:1000])
		_ = http.NewResponseController(w).Flush()
		wait(next)
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, body[1000:])
	})}
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	e := start(t, always+gzips()+`origins: {app: {servers: ["http://{origin}"], protocol: h2}}`, edgetest.Options{Origin: l.Addr().String()})
	for _, target := range []string{"/a", "/cut"} {
		c := dial(t, e.Address)
		res, err := c.head(taking("gzip", "GET", target, "HTTP/1.1", ""))
		if err != nil {
			t.Fatal(err)
		}
		text, err := testkit.Decoder(res.Header.Get("Content-Encoding"), res.Body)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1000)
		if _, err := io.ReadFull(text, first); err != nil || string(first) != body[:1000] {
			t.Fatalf("%s: the begin: got %.20q, %v", target, first, err)
		}
		next <- struct{}{}
		rest, err := io.ReadAll(text)
		if target == "/a" && (err != nil || string(rest) != body[1000:]) || target == "/cut" && err == nil {
			t.Errorf("%s: the rest: got %d bytes, %v", target, len(rest), err)
		}
	}
	hit := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.1", ""))
	if got, err := testkit.Decoded("gzip", hit.body); err != nil || got != body || !strings.Contains(hit.cache, "; hit") {
		t.Errorf("then: got %d bytes, %v, %s, want a hit", len(got), err, hit.cache)
	}
	if n := e.Store.Stats().Objects; n != 1 {
		t.Errorf("got %d objects, want that which is whole", n)
	}
}

// TestTrailersBehindACompressedBody are those that are not about the bytes of the origin.
func TestTrailersBehindACompressedBody(t *testing.T) {
	body := page(500)
	e, _ := startBefore(t, always+gzips(), func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say(fmt.Sprintf("HTTP/1.1 200 OK\r\n%sTrailer: X-Sum, Content-Digest\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nX-Sum: 1\r\nContent-Digest: sha-256=:AA:\r\nRepr-Digest: b\r\n\r\n", textFields, len(body), body))
		}
	})
	for coding, want := range map[string]string{"gzip": "map[X-Sum:[1]]", "identity": "map[Content-Digest:[sha-256=:AA:] Repr-Digest:[b] X-Sum:[1]]"} {
		s := dial(t, e.Address)
		res, err := s.head(taking(coding, "POST", "/a", "HTTP/1.1", "Connection: TE\r\nTE: trailers\r\nContent-Length: 0\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || fmt.Sprint(res.Trailer) != want {
			t.Errorf("%s: got the trailers %v, %v, want %s", coding, res.Trailer, err, want)
		}
	}
}

// TestPreconditionsOfUnsafeRequestsAreForwardedUnchanged: a PUT of what was compressed fails by the origin's own comparison, if at all.
func TestPreconditionsOfUnsafeRequestsAreForwardedUnchanged(t *testing.T) {
	asked := make(chan *edgetest.Request, 1)
	e, _ := startBefore(t, always+gzips(), func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			asked <- r
			c.Say("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 412 Precondition Failed\r\nETag: \"a\"\r\nContent-Length: 0\r\n\r\n")
		}
	})
	s := dial(t, e.Address)
	res, err := s.head(taking("gzip", "PUT", "/a", "HTTP/1.1", "If-Match: W/\"a\"\r\nContent-Length: 0\r\n"))
	if err == nil && res.StatusCode == http.StatusEarlyHints {
		res, err = http.ReadResponse(s.r, nil)
	}
	if err != nil || res.StatusCode != 412 || res.Header.Get("Etag") != `"a"` || res.Header.Get("Content-Encoding") != "" {
		t.Errorf("got %v, %v", res, err)
	}
	if r := <-asked; r.Header.Get("If-Match") != `W/"a"` || r.Header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("the origin got %v", r.Header)
	}
}

// TestSlicesAreNotCompressed, as check says.
func TestSlicesAreNotCompressed(t *testing.T) {
	body := page(5000)
	app := edgetest.StartOrigin(t, nil, says(textFields, body))
	e := start(t, always+gzips(), edgetest.Options{Origin: app.Address, Adjust: func(c *config.Config) { c.Routes[0].Cache.SliceBytes = 64 << 10 }})
	got := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.1", ""))
	if got.body != body || got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "" {
		t.Errorf("got %d bytes, %v", len(got.body), got.header)
	}
}

// TestTooManyEncodersLeaveAResponseAsItIs, in the variant of its client, and are counted.
func TestTooManyEncodersLeaveAResponseAsItIs(t *testing.T) {
	body := page(5000)
	e, _ := startBefore(t, always+gzips(), says(textFields, body))
	var others []*compress.Reader
	for r := compress.NewReader(nil, compress.Gzip, setting.LevelFastest, nil); r != nil; r = compress.NewReader(nil, compress.Gzip, setting.LevelFastest, nil) {
		others = append(others, r)
	}
	got := ask(t, e, taking("gzip", "GET", "/a", "HTTP/1.1", ""))
	for _, r := range others {
		_ = r.Close()
	}
	if got.body != body || got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "Accept-Encoding" || got.header.Get("Etag") != `"a"` {
		t.Errorf("got %d bytes, %v", len(got.body), got.header)
	}
	if n := e.Metric(t, "edgeproxy_compressed_responses_total", "route=default", "coding=identity"); n != 1 {
		t.Errorf("counted %v, want 1", n)
	}
	ask(t, e, taking("gzip", "GET", "/b", "HTTP/1.1", "")).wantPage(t, "then", "gzip", "fwd=uri-miss; stored", body)
}

// TestOneClientDoesNotTakeTheEncodersOfOthers: where few are free it has its share of them, and no more.
func TestOneClientDoesNotTakeTheEncodersOfOthers(t *testing.T) {
	body := page(300_000)
	ends := map[string]chan struct{}{"/hangs/1": make(chan struct{}), "/hangs/2": make(chan struct{})}
	// A fetch goes on without its client, and has its share until the origin ends it.
	e, _ := startBefore(t, fmt.Sprint(always, gzips(), `
listen: [{address: "127.0.0.1:0", trusted_proxies: [127.0.0.0/8]}]
limits: {origin_share: `, 2./compress.MostOpen, "}"), func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			c.Say("HTTP/1.1 200 OK\r\n" + textFields + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body[:100_000])
			if end := ends[r.RequestURI]; end != nil {
				<-end
			}
			c.Say(body[100_000:])
		}
	})
	defer close(ends["/hangs/2"])
	var others []*compress.Reader
	for range compress.MostOpen*3/4 + 1 { // less than a quarter is free
		others = append(others, compress.NewReader(nil, compress.Gzip, setting.LevelFastest, nil))
	}
	defer func() {
		for _, r := range others {
			_ = r.Close()
		}
	}()
	from := func(client, target, want string) *socket {
		t.Helper()
		s := dial(t, e.Address)
		res, err := s.head(taking("gzip", "GET", target, "HTTP/1.1", "X-Forwarded-For: "+client+"\r\n"))
		if err != nil || res.Header.Get("Content-Encoding") != want {
			t.Fatalf("%s for %s: got %v, %v, want %q", target, client, res, err, want)
		}
		return s
	}
	held := from("192.0.2.1", "/hangs/1", "gzip")
	from("192.0.2.1", "/hangs/2", "gzip")
	from("192.0.2.1", "/a", "")
	from("192.0.2.2", "/b", "gzip")
	_ = held.Close()
	close(ends["/hangs/1"])
	asked := 0
	eventually(t, "a client that leaves has its share again", func() bool {
		asked++
		return ask(t, e, taking("gzip", "GET", "/c"+strconv.Itoa(asked), "HTTP/1.1", "X-Forwarded-For: 192.0.2.1\r\n")).header.Get("Content-Encoding") == "gzip"
	})
}

// TestEncodersAreReleased when clients leave, origins break off and bodies end.
func TestEncodersAreReleased(t *testing.T) {
	body := page(300_000)
	script := func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			c.Say("HTTP/1.1 200 OK\r\n" + textFields + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body[:100_000])
			switch {
			case strings.HasPrefix(r.RequestURI, "/cut"):
				return
			case strings.HasPrefix(r.RequestURI, "/hangs"):
				c.UntilClosed()
				return
			}
			c.Say(body[100_000:])
		}
	}
	e, _ := startBefore(t, always+gzips(), script)
	impatient, _ := startBefore(t, always+gzips()+`origins: {app: {servers: ["http://{origin}"], idle_timeout: 100ms}}`, script) // a fetch goes on without its client
	for i := range 60 {
		target, e := [...]string{"/cut", "/hangs", "/whole"}[i%3], e
		if target == "/hangs" {
			e = impatient
		}
		s := dial(t, e.Address)
		method := [...]string{"GET", "POST"}[i%2]
		res, err := s.head(taking("gzip", method, fmt.Sprint(target, i), "HTTP/1.1", "Content-Length: 0\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		if target == "/whole" {
			_, err = io.Copy(io.Discard, res.Body)
		} else {
			_, err = io.CopyN(io.Discard, res.Body, 100)
		}
		if err != nil {
			t.Errorf("%s %s: %v", method, target, err)
		}
		_ = s.Close()
	}
	eventually(t, "all encoders are given back", func() bool {
		var all []*compress.Reader
		for r := compress.NewReader(nil, compress.Gzip, setting.LevelFastest, nil); r != nil; r = compress.NewReader(nil, compress.Gzip, setting.LevelFastest, nil) {
			all = append(all, r)
		}
		for _, r := range all {
			_ = r.Close()
		}
		return len(all) == compress.MostOpen
	})
}
