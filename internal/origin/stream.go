package origin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"sync/atomic"
	"time"

	"edgeproxy/internal/http/field"
)

// stream is one request and its response by HTTP/2.
type stream struct {
	origin *Origin
	c      *h2Conn
	r      *Request
	idle   time.Duration
	begun  time.Time
	reused bool // c had answered before

	// ctx is the context of the stream, which outlives that of the request. Its cause says why the stream has ended.
	ctx       context.Context //nolint:containedctx // it is one of the library's ways to end a stream
	cancel    context.CancelCauseFunc
	waitLimit waitLimit // with the origin, until it has answered
	upload    *streamUpload
	sent      uploaded

	interims chan interim // interim responses to be passed on: at most MaxInterim, which is its capacity, so a send never waits
	counted  interimCount // used only by the library's reading goroutine
	heard    atomic.Bool  // something of an answer has come
	wrote    atomic.Bool  // something of the request may have been sent

	res *http.Response
}

// interimFrame is counted for an interim response by HTTP/2 beside its fields, for the header of its frame and its status.
const interimFrame = 16

// interim is an interim response on its way to the goroutine of the request.
type interim struct {
	status int
	fields field.List
}

func newStream(o *Origin, c *h2Conn, r *Request) *stream {
	s := &stream{
		origin: o, c: c, r: r, idle: cmp.Or(r.Idle, o.options.IdleTimeout), reused: c.used.Load(),
		interims: make(chan interim, MaxInterim),
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s.cancel, s.waitLimit.cancel = cancel, cancel
	s.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { s.wrote.Store(true) },
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if s.upload != nil && i.Err == nil {
				s.waitLimit.begin(s.headLimit())
			}
		},
		Got1xxResponse: s.interim,
	})
	return s
}

// headLimit returns how long the origin may take for a complete head.
func (s *stream) headLimit() time.Duration {
	return cmp.Or(s.r.FirstByte, s.origin.options.FirstByteTimeout)
}

// run sends the request and waits for the head of the final response.
func (s *stream) run(ctx context.Context) (head, error) {
	m, err := s.message()
	if err != nil {
		s.c.wire.Release()
		return head{}, err
	}
	s.begun = time.Now()
	if s.upload == nil {
		s.waitLimit.begin(s.headLimit())
	} else {
		s.waitLimit.begin(s.idle) // until the body is asked for
	}
	release := afterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	answered := make(chan error, 1)
	go func() { answered <- s.roundTrip(m) }()
	err = s.await(answered)
	if s.sent = (uploaded{whole: true}); s.upload != nil {
		s.sent = s.upload.stop(err == nil)
	}
	s.waitLimit.close()
	switch {
	case !release():
		err = &endedError{context.Cause(ctx)}
	case s.sent.err != nil:
		err = s.sent.err
	}
	if err != nil {
		return head{}, err
	}
	return headOf(s.res, s.origin.options.MaxHeaderBytes)
}

// message returns the request in the library's type. The error says why it cannot be sent.
func (s *stream) message() (*http.Request, error) {
	r := s.r
	m, ok := r.message(s.c.server)
	if !ok {
		return nil, &unsendableError{fmt.Errorf("target %.40q cannot be sent by HTTP/2", r.Target)}
	}
	switch {
	case r.Body == nil:
	case r.Whole != nil:
		m.Body, m.ContentLength = io.NopCloser(bytes.NewReader(slices.Clone(r.Whole))), int64(len(r.Whole)) // the library may read it later than the caller allows
	default:
		s.upload = newStreamUpload(s)
		m.Body, m.ContentLength, m.Trailer = s.upload, r.ContentLength, s.upload.trailers
	}
	return m.WithContext(s.ctx), nil
}

// roundTrip calls that of the library, and turns a panic into an error.
func (s *stream) roundTrip(m *http.Request) (err error) {
	defer s.origin.options.Panics.Into(&err)
	s.res, err = s.c.wire.RoundTrip(m) //nolint:bodyclose // over closes it
	return err
}

// await waits for the answer, and passes interim responses on.
func (s *stream) await(answered <-chan error) error {
	for {
		select {
		case i := <-s.interims:
			s.passOn(i)
		case err := <-answered:
			for err == nil && len(s.interims) > 0 { // no others can come
				s.passOn(<-s.interims)
			}
			return err
		}
	}
}

func (s *stream) passOn(i interim) {
	if s.r.Interim != nil {
		s.r.Interim(i.status, i.fields)
	}
}

// interim counts an interim response, and hands it over to be passed on, within the limits. The library calls it between
// two frames of the connection, so it must not wait or panic.
func (s *stream) interim(status int, header textproto.MIMEHeader) (err error) {
	defer s.origin.options.Panics.Into(&err)
	s.heard.Store(true)
	fields, size, err := fieldsOf(http.Header(header))
	most := s.origin.options.MaxHeaderBytes
	switch {
	case err != nil:
		return err
	case status == statusSwitching:
		return malformed("101 Switching Protocols, which HTTP/2 does not allow")
	case size > most:
		return tooLong(most)
	}
	passOn, err := s.counted.add(status, size+interimFrame, most)
	if passOn && err == nil {
		s.interims <- interim{status, fields.Without(func(name string) bool { return name == "Content-Length" })}
	}
	return err
}

// abandon ends the stream. The library sends RST_STREAM, unless the origin has ended the stream.
func (s *stream) abandon() {
	s.waitLimit.close()
	s.cancel(ErrBodyClosed)
	if s.res != nil {
		s.origin.close(s.res.Body)
	}
	s.c.done()
}
