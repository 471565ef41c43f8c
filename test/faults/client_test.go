package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// object is something to ask for.
type object struct {
	path  string
	cc    string // the origin's Cache-Control
	size  int
	frame string // "", "chunked" or "close"
}

func (o object) target() string {
	return o.path + "?size=" + strconv.Itoa(o.size) + "&cc=" + o.cc + "&frame=" + o.frame
}

// newClient is a client that repeats nothing and keeps its connections until the test
// closes them.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// get asks for o and says what came of it: status, word of Cache-Status, and "cut" where
// the body visibly ended too early. A body that ended as if it were whole is "short" if it
// is the beginning of the whole, and "torn" otherwise.
func (e *edge) get(c *http.Client, o object) string {
	e.t.Helper()
	res, err := c.Get(e.url + o.target())
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer res.Body.Close()
	said := fmt.Sprint(res.StatusCode, " ", word(res))
	body, err := io.ReadAll(res.Body)
	return said + how(res, body, content(o.path, o.size), err)
}

// post sends a body that comes back.
func (e *edge) post(c *http.Client) string {
	e.t.Helper()
	sent := content("/post", 8<<10)
	res, err := c.Post(e.url+"/post", "text/plain", bytes.NewReader(sent))
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer res.Body.Close()
	said := fmt.Sprint(res.StatusCode, " ", word(res))
	body, err := io.ReadAll(res.Body)
	return said + how(res, body, sent, err)
}

// how says what is wrong with a body, if anything.
func how(res *http.Response, body, whole []byte, err error) string {
	switch {
	case res.StatusCode == http.StatusOK && !bytes.HasPrefix(whole, body):
		return " torn"
	case err != nil:
		return " cut"
	case res.StatusCode == http.StatusOK && len(body) < len(whole):
		return " short"
	}
	return ""
}

var parameters = regexp.MustCompile(`; (hit|fwd=[a-z-]+|ttl=-?[0-9]+|detail=[a-z-]+)`)

// word is what Cache-Status says in short: hit, stale for a hit that is no longer fresh, or
// why the request went on; and of an error the reason.
func word(res *http.Response) string {
	var words []string
	for _, p := range parameters.FindAllStringSubmatch(res.Header.Get("Cache-Status"), -1) {
		name, value, _ := strings.Cut(p[1], "=")
		switch {
		case name == "hit":
			words = append(words, "hit")
		case name == "fwd":
			words = append(words, p[1])
		case name == "detail" && res.StatusCode >= 500:
			words = append(words, value)
		case name == "ttl" && (value == "0" || strings.HasPrefix(value, "-")):
			words[0] = "stale"
		}
	}
	return strings.Join(words, " ")
}
