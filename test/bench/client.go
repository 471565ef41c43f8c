package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// answerWait bounds the wait for any one answer, and for a connection.
const answerWait = 10 * time.Second

// wanted is what every answer must look like.
type wanted struct {
	size    int
	mark    string // somewhere in the head; "" for none
	untimed bool   // an open loop does not take its time
}

// hitMark is how edgeproxy says that an answer came from its store (RFC 9211).
const hitMark = "; hit; "

// nginxHitMark is how nginx says it where it is told to.
const nginxHitMark = "X-Cache: HIT"

// missMark is how it says that it asked the origin, whether it then stored the answer or not.
const missMark = "; fwd=uri-miss"

// storedMark is how it says that it asked the origin and stores the answer.
const storedMark = "; stored"

// AnswerError is an answer that does not count.
type AnswerError struct {
	Why string
	// Head is the beginning of what came.
	Head string
}

// Error says what is wrong with the answer.
func (e *AnswerError) Error() string { return fmt.Sprintf("answer %s: %.400q", e.Why, e.Head) }

// clients are keep-alive connections to one server. Each asks for the next page
// when it has the answer to the last.
type clients struct {
	conns    []net.Conn
	requests [][]byte
	fresh    func() []byte // in place of requests: one that was never asked for; nil without
	want     wanted
	buffers  [][]byte
}

func dial(address string, connections int, requests [][]byte, want wanted) (*clients, error) {
	c := &clients{requests: requests, want: want}
	for range connections {
		conn, err := net.DialTimeout("tcp", address, answerWait)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("connect: %w", err), c.Close())
		}
		c.conns = append(c.conns, conn)
		c.buffers = append(c.buffers, make([]byte, 256<<10))
	}
	return c, nil
}

// Close closes the connections.
func (c *clients) Close() error {
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// ask asks on all connections for d and returns the number of answers, each of
// them whole and as wanted.
func (c *clients) ask(d time.Duration) (answers int64, err error) {
	var over atomic.Bool
	timer := time.AfterFunc(d, func() { over.Store(true) })
	defer timer.Stop()
	var total atomic.Int64
	failures := make([]error, len(c.conns))
	var asking sync.WaitGroup
	for i := range c.conns {
		asking.Go(func() {
			n := 0
			for ; failures[i] == nil && !over.Load(); n++ {
				failures[i] = c.one(i, c.next(i, n))
			}
			if failures[i] != nil {
				over.Store(true)
			}
			total.Add(int64(n))
		})
	}
	asking.Wait()
	return total.Load(), errors.Join(failures...)
}

// next returns the n-th request of connection i.
func (c *clients) next(i, n int) []byte {
	if c.fresh != nil {
		return c.fresh()
	}
	return c.requests[(i*7+n)%len(c.requests)]
}

// upload sends a request that is not asked for its time on each connection. Its answer has the size of the others, and comes from anywhere.
func (c *clients) upload(request []byte) error {
	mark := c.want.mark
	defer func() { c.want.mark = mark }()
	c.want.mark = ""
	for i := range c.conns {
		if err := c.one(i, request); err != nil {
			return err
		}
	}
	return nil
}

// one sends a request on connection i and reads the answer to its end.
func (c *clients) one(i int, request []byte) error {
	conn, buffer := c.conns[i], c.buffers[i]
	if err := conn.SetDeadline(time.Now().Add(answerWait)); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	if _, err := conn.Write(request); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	have, head := 0, -1
	for head < 0 {
		n, err := conn.Read(buffer[have:])
		if err != nil {
			return fmt.Errorf("read an answer: %w", err)
		}
		have += n
		head = bytes.Index(buffer[:have], []byte("\r\n\r\n"))
		if head < 0 && have == len(buffer) {
			return &AnswerError{Why: "has no end of its head", Head: string(buffer)}
		}
	}
	if err := c.want.check(buffer[:head]); err != nil {
		return err
	}
	left := c.want.size - (have - head - len("\r\n\r\n"))
	for left > 0 {
		n, err := conn.Read(buffer)
		if err != nil {
			return fmt.Errorf("read an answer: %w", err)
		}
		left -= n
	}
	if left < 0 {
		return &AnswerError{Why: "has more bytes than its page", Head: string(buffer[:head])}
	}
	return nil
}

func (w wanted) check(head []byte) error {
	switch {
	case !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")):
		return &AnswerError{Why: "is not 200", Head: string(head)}
	case !bytes.Contains(head, []byte(w.mark)):
		return &AnswerError{Why: "does not say " + strings.Trim(w.mark, "; "), Head: string(head)}
	}
	return nil
}

// warmRequests is how often each page is asked for before it must be a hit: a
// first sighting, a second that stores, and one more.
const warmRequests = 3

// warm asks for every page until edgeproxy has it, and looks at the bodies: what
// is measured has to be the right answer.
func warm(ctx context.Context, address string, pages []page, mark string) error {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: answerWait}
	for _, p := range pages {
		for i := range warmRequests {
			status, body, err := fetch(ctx, &client, "http://"+address+p.path)
			if err != nil {
				return fmt.Errorf("fill the cache: %w", err)
			}
			if !bytes.Equal(body, p.body) {
				return &AnswerError{Why: "has another body than its page", Head: p.path}
			}
			if i == warmRequests-1 && !strings.Contains(status, mark) {
				return &AnswerError{Why: "is no hit after " + strconv.Itoa(warmRequests) + " requests", Head: status}
			}
		}
	}
	return nil
}

// fetch returns Cache-Status and body of a page.
func fetch(ctx context.Context, client *http.Client, url string) (status string, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	body, err = io.ReadAll(resp.Body)
	return resp.Header.Get("Cache-Status"), body, err
}
