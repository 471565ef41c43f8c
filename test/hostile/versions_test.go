package hostile

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/test/testkit"
)

// ask is a request in the parts that every version has. It has a method, a target and a host,
// unless they are said to be others or absent.
type ask struct {
	method, target, host string
	fields               [][2]string
	content              string
	more                 bool // comes behind content, and never does
}

// absent says that a request has no such part.
const absent = "\x00absent"

// with returns a request that differs from a plain one in what change does.
func with(change func(*ask)) ask {
	a := ask{method: "GET", target: "/a", host: "h"}
	change(&a)
	return a
}

func target(s string) ask { return with(func(a *ask) { a.target = s }) }
func host(s string) ask   { return with(func(a *ask) { a.host = s }) }
func method(s string) ask { return with(func(a *ask) { a.method = s }) }

// fields returns a request with fields, a name and a value in turn.
func fields(pairs ...string) ask {
	return with(func(a *ask) {
		for i := 0; i < len(pairs); i += 2 {
			a.fields = append(a.fields, [2]string{pairs[i], pairs[i+1]})
		}
	})
}

// post returns an upload with fields.
func post(content string, pairs ...string) ask {
	a := fields(pairs...)
	a.method, a.content = "POST", content
	return a
}

func more(a ask) ask {
	a.more = true
	return a
}

// refusals are requests that are refused, and with what. Each says in the parts of a request what
// can be said in every version. What only one version can say, such as a line of HTTP/1.1 that is
// folded or a pseudo-field twice, is in the corpus, and with internal/front.
var refusals = map[string]struct {
	status int
	ask    ask
}{
	"space in the target":       {400, target("/a b")},
	"tab in the target":         {400, target("/a\tb")},
	"NUL in the target":         {400, target("/a\x00")},
	"DEL in the target":         {400, target("/a\x7f")},
	"fragment":                  {400, target("/a#b")},
	"backslash":                 {400, target("/a\\b")},
	"no slash":                  {400, target("a")},
	"star":                      {400, target("*")},
	"other scheme":              {400, target("ftp://h/a")},
	"URL without a path":        {400, target("https://h?q")},
	"long target":               {414, target("/" + strings.Repeat("a", 8<<10))},
	"no host":                   {400, host(absent)},
	"empty host":                {400, host("")},
	"two hosts in one":          {400, host("a,b")},
	"user":                      {400, host("user@h")},
	"user and password":         {400, host("user:pw@h")},
	"port 0":                    {400, host("h:0")},
	"port beyond":               {400, host("h:65536")},
	"port of letters":           {400, host("h:x")},
	"path in the host":          {400, host("h/x")},
	"space in the host":         {400, host("h x")},
	"open bracket":              {400, host("[::1")},
	"two hosts":                 {400, fields("host", "h", "host", "h")},
	"another host":              {400, fields("host", "other.example")},
	"lower case":                {400, method("get")},
	"empty method":              {400, method("")},
	"space in the method":       {400, method("GET /a")},
	"parenthesis in the method": {400, method("G(T")},
	"TRACE":                     {405, method("TRACE")},
	"space in a name":           {400, fields("x y", "z")},
	"space after a name":        {400, fields("x ", "z")},
	"empty name":                {400, fields("", "z")},
	"parenthesis in a name":     {400, fields("x(", "z")},
	"NUL in a name":             {400, fields("x\x00", "z")},
	"high byte in a name":       {400, fields("x\xe4", "z")},
	"CR in a value":             {400, fields("x", "a\rb")},
	"LF in a value":             {400, fields("x", "a\nb: c")},
	"line in a value":           {400, fields("x", "a\r\n b")},
	"NUL in a value":            {400, fields("x", "a\x00b")},
	"VT in a value":             {400, fields("x", "a\x0bb")},
	"DEL in a value":            {400, fields("x", "a\x7fb")},
	"many fields":               {431, fields(strings.Split(strings.Repeat("x,y,", 130)+"x,y", ",")...)},
	"long field":                {431, fields("x", strings.Repeat("y", 20<<10))},
	"unknown expectation":       {417, post("abc", "content-length", "3", "expect", "200-ok")},
	"large content":             {413, more(post(strings.Repeat("a", 10_000), "content-length", "1048577"))},
	"two lengths":               {400, post("abc", "content-length", "3", "content-length", "4")},
	"one length twice":          {400, post("abc", "content-length", "3", "content-length", "3")},
	"list of lengths":           {400, post("abc", "content-length", "3, 3")},
	"signed length":             {400, post("abc", "content-length", "+3")},
	"length below 0":            {400, post("abc", "content-length", "-3")},
	"length of letters":         {400, post("abc", "content-length", "x")},
	"empty length":              {400, post("abc", "content-length", "")},
	"length beyond":             {400, post("abc", "content-length", "99999999999999999999")},
	"other coding":              {400, post("abc", "transfer-encoding", "gzip")},
}

// TestBothVersionsRefuseTheSame, with the same status, and nothing of it reaches the origin.
func TestBothVersionsRefuseTheSame(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program does the work")
	t.Parallel()
	o := startOrigin(t)
	authority := testkit.NewAuthority(t)
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	testkit.WritePair(t, authority.Good("h"), certificate, key)
	file := filepath.Join(dir, "versions.yaml")
	text := fmt.Sprintf(`
node: {name: edgeproxy-test}
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
origins: {app: {servers: ["http://%s"]}}
limits: {body_bytes: 1MiB}
`, certificate, key, o.listener.Addr())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address, admin := serve(t, testkit.Built(t), file)
	asked := func() int64 {
		c, err := askCounts("http://" + admin + "/status")
		if err != nil {
			t.Fatal(err)
		}
		return c.requests
	}
	for name, r := range refusals {
		for version, play := range map[string]func(*testing.T, string, ask) (int, error){"h2": byHTTP2, "http/1.1": byHTTP1} {
			before := asked()
			if got, err := play(t, address, r.ask); err != nil || got != r.status {
				t.Errorf("%s by %s: got %d, %v, want %d", name, version, got, err, r.status)
			}
			if n := asked() - before; n != 1 {
				t.Errorf("%s by %s: %d requests counted, want 1", name, version, n)
			}
		}
	}
	if n := o.connections(); n > 0 {
		t.Errorf("the origin has %d connections, want none", n)
	}
	for version, play := range map[string]func(*testing.T, string, ask) (int, error){"h2": byHTTP2, "http/1.1": byHTTP1} {
		if got, err := play(t, address, with(func(*ask) {})); err != nil || got/100 != 2 && got/100 != 5 {
			t.Errorf("what is all right by %s: got %d, %v", version, got, err)
		}
	}
}

// connectBy opens a connection of one version.
func connectBy(t *testing.T, address, protocol string) (*tls.Conn, error) {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, c.SetDeadline(time.Now().Add(patience))
}

// byHTTP1 asks by HTTP/1.1, and returns the status.
func byHTTP1(t *testing.T, address string, a ask) (int, error) {
	t.Helper()
	c, err := connectBy(t, address, "http/1.1")
	if err != nil {
		return 0, err
	}
	text := a.method + " " + a.target + " HTTP/1.1\r\n"
	if a.host != absent {
		text += "Host: " + a.host + "\r\n"
	}
	for _, f := range a.fields {
		text += f[0] + ": " + f[1] + "\r\n"
	}
	_, _ = io.WriteString(c, text+"\r\n"+a.content)
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: a.method})
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}

// byHTTP2 asks by HTTP/2, and returns the status, or what ended the stream without one.
func byHTTP2(t *testing.T, address string, a ask) (int, error) {
	t.Helper()
	c, err := connectBy(t, address, "h2")
	if err != nil {
		return 0, err
	}
	var out, block bytes.Buffer
	w, e := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	w.AllowIllegalWrites = true
	out.WriteString(http2.ClientPreface)
	_ = w.WriteSettings()
	_ = w.WriteSettingsAck()
	pairs := [][2]string{{":method", a.method}, {":scheme", "https"}}
	if a.host != absent {
		pairs = append(pairs, [2]string{":authority", a.host})
	}
	for _, f := range append(append(pairs, [2]string{":path", a.target}), a.fields...) {
		_ = e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	for rest, first := block.Bytes(), true; first || len(rest) > 0; first = false {
		part := rest[:min(len(rest), 16<<10)]
		rest = rest[len(part):]
		if first {
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: part, EndHeaders: len(rest) == 0, EndStream: a.method != "POST"})
		} else {
			_ = w.WriteContinuation(1, len(rest) == 0, part)
		}
	}
	if a.content != "" {
		_ = w.WriteData(1, !a.more, []byte(a.content))
	}
	if _, err := c.Write(out.Bytes()); err != nil {
		return 0, err
	}
	r, d := http2.NewFramer(io.Discard, c), hpack.NewDecoder(4096, nil)
	for {
		f, err := r.ReadFrame()
		if err != nil {
			return 0, err
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			list, err := d.DecodeFull(f.HeaderBlockFragment())
			if err != nil {
				return 0, err
			}
			var status int
			_, err = fmt.Sscan(list[0].Value, &status)
			return status, err
		case *http2.RSTStreamFrame:
			return 0, fmt.Errorf("reset: %v", f.ErrCode)
		case *http2.GoAwayFrame:
			return 0, fmt.Errorf("GOAWAY: %v", f.ErrCode)
		}
	}
}
