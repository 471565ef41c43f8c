package compress_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"

	"edgeproxy/internal/proxy/compress"
	"edgeproxy/internal/route/setting"
	"edgeproxy/internal/test/testkit"
)

var (
	codings = []compress.Coding{compress.Gzip, compress.Brotli, compress.Zstd}
	levels  = []compress.Level{setting.LevelFastest, setting.LevelDefault, setting.LevelBetter}
)

// source gives pieces, one a read, and says between them what is at hand. Then it ends with err.
type source struct {
	pieces [][]byte
	pauses bool // between them
	err    error
}

func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(s.pieces) == 0 {
		return 0, s.err
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func (s *source) AtHand() bool { return !s.pauses }

// decode reads what a client would.
func decode(c compress.Coding, from io.Reader) ([]byte, error) {
	r, err := decoder(c, from)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func decoder(c compress.Coding, from io.Reader) (io.Reader, error) {
	switch c {
	case compress.Brotli:
		return brrr.NewReader(from), nil
	case compress.Zstd:
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
		return d, err
	default:
		return gzip.NewReader(from)
	}
}

func each(t *testing.T, f func(t *testing.T, c compress.Coding, l compress.Level)) {
	t.Helper()
	for _, c := range codings {
		for _, l := range levels {
			t.Run(fmt.Sprint(c, "/", l), func(t *testing.T) { f(t, c, l) })
		}
	}
}

// text is n bytes that can be made shorter, and are not the same all over.
func text(rnd *rand.Rand, n int) []byte {
	words := []string{"edge", "proxy", "cache", "<div class=\"row\">", "</div>\n", "0123456789", "ü", "compress "}
	var b []byte
	for len(b) < n {
		b = append(b, words[rnd.IntN(len(words))]...)
		if rnd.IntN(8) == 0 {
			b = append(b, byte(rnd.Uint32()))
		}
	}
	return b[:n]
}

// cutUp returns body in pieces of any length.
func cutUp(rnd *rand.Rand, body []byte) (pieces [][]byte) {
	for len(body) > 0 {
		n := min(1+rnd.IntN(1<<rnd.IntN(17)), len(body))
		pieces = append(pieces, body[:n])
		body = body[n:]
	}
	return pieces
}

func TestWhatIsDecodedIsWhatWasEncoded(t *testing.T) {
	testkit.Plain(t, "one goroutine encodes and decodes")
	each(t, func(t *testing.T, c compress.Coding, l compress.Level) {
		rnd := rand.New(rand.NewPCG(1, uint64(c)<<8+uint64(l)))
		for i, n := range []int{0, 1, 100, 32 << 10, 32<<10 + 1, 300_000, 1 << 20} {
			if n > 300_000 && testing.Short() {
				continue
			}
			body := text(rnd, n)
			var counts compress.Counts
			r := compress.NewReader(&source{pieces: cutUp(rnd, body), pauses: i%2 == 0, err: io.EOF}, c, l, &counts)
			var from io.Reader = r
			if rnd.IntN(2) == 0 {
				from = iotest.OneByteReader(r)
			}
			var sent bytes.Buffer
			if _, err := sent.ReadFrom(from); err != nil {
				t.Fatal(err)
			}
			_ = r.Close()
			if counts.In.Load() != int64(n) || counts.Out.Load() != int64(sent.Len()) || counts.Responses.Load() != 1 {
				t.Errorf("%d bytes: counted %d in, %d out, sent %d", n, counts.In.Load(), counts.Out.Load(), sent.Len())
			}
			if got, err := decode(c, &sent); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%d bytes: got %d, %v", n, len(got), err)
			}
		}
	})
}

// TestACutBodyNeverEndsWell: whatever the error, and wherever it comes, what was sent is no whole coding.
func TestACutBodyNeverEndsWell(t *testing.T) {
	cut := errors.New("cut")
	each(t, func(t *testing.T, c compress.Coding, l compress.Level) {
		rnd := rand.New(rand.NewPCG(2, uint64(c)<<8+uint64(l)))
		for _, err := range []error{cut, io.ErrUnexpectedEOF, fmt.Errorf("%w, but of the connection", io.EOF)} {
			for _, n := range []int{0, 1, 5000, 100_000} {
				for _, pauses := range []bool{false, true} {
					r := compress.NewReader(&source{pieces: cutUp(rnd, text(rnd, n)), pauses: pauses, err: err}, c, l, new(compress.Counts))
					var sent bytes.Buffer
					if _, got := io.Copy(&sent, struct{ io.Reader }{r}); got != err { //nolint:errorlint // the very error
						t.Fatalf("%d bytes: the reader ends with %v, want %v", n, got, err)
					}
					if _, again := r.Read(make([]byte, 1)); again != err { //nolint:errorlint // the very error
						t.Fatalf("%d bytes: read once more: %v", n, again)
					}
					_ = r.Close()
					length := sent.Len()
					if _, err := decode(c, &sent); err == nil && (length > 0 || c == compress.Gzip) {
						t.Fatalf("%d bytes, %d of the coding: decoded as if it was whole", n, length)
					}
				}
			}
		}
	})
}

// TestWhatHasComeIsGivenOutBeforeAPause: the client reads every piece before the origin goes on.
func TestWhatHasComeIsGivenOutBeforeAPause(t *testing.T) {
	each(t, func(t *testing.T, c compress.Coding, l compress.Level) {
		in, out := io.Pipe()
		r := compress.NewReader(pausing{in}, c, l, new(compress.Counts))
		defer r.Close()
		pieces := []string{"one", strings.Repeat("two", 20_000), "3", "four"}
		goOn := make(chan struct{})
		go func() {
			for _, p := range pieces {
				_, _ = io.WriteString(out, p)
				<-goOn
			}
			_ = out.Close()
		}()
		var from io.Reader
		for _, p := range pieces {
			if from == nil {
				var err error
				if from, err = decoder(c, r); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]byte, len(p))
			if _, err := io.ReadFull(from, got); err != nil || string(got) != p {
				t.Fatalf("got %.20q, %v, want %.20q", got, err, p)
			}
			goOn <- struct{}{}
		}
		if rest, err := io.ReadAll(from); err != nil || len(rest) > 0 {
			t.Errorf("behind the end: %q, %v", rest, err)
		}
	})
}

type pausing struct{ io.Reader }

func (pausing) AtHand() bool { return false }

func TestFinishEncodesAllAtOnce(t *testing.T) {
	body := text(rand.New(rand.NewPCG(3, 3)), 10_000)
	for _, c := range codings {
		r := compress.NewReader(&source{pieces: [][]byte{body[:4000], body[4000:]}, err: io.EOF}, c, setting.LevelDefault, new(compress.Counts))
		size, ok := r.Finish()
		sent, err := io.ReadAll(r)
		if !ok || err != nil || int64(len(sent)) != size {
			t.Fatalf("%s: got %d, %v, and read %d, %v", c, size, ok, len(sent), err)
		}
		if got, err := decode(c, bytes.NewReader(sent)); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: got %d bytes, %v", c, len(got), err)
		}
		_ = r.Close()
		r = compress.NewReader(&source{pieces: [][]byte{body}, err: io.ErrUnexpectedEOF}, c, setting.LevelDefault, new(compress.Counts))
		if size, ok := r.Finish(); ok {
			t.Errorf("%s: a cut body is finished, of %d bytes", c, size)
		}
		if _, err := io.ReadAll(r); err != io.ErrUnexpectedEOF { //nolint:errorlint // the very error
			t.Errorf("%s: a cut body ends with %v", c, err)
		}
		_ = r.Close()
	}
}

// TestCloseDuringARead: the encoder of a read that is under way is nobody else's before that has ended.
func TestCloseDuringARead(t *testing.T) {
	body := text(rand.New(rand.NewPCG(4, 4)), 200_000)
	for _, c := range codings {
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				r := compress.NewReader(&source{pieces: cutUp(rand.New(rand.NewPCG(5, uint64(i))), body), pauses: i%2 == 0, err: io.EOF}, c, setting.LevelFastest, new(compress.Counts))
				if i%4 != 0 {
					all.Go(func() { _ = r.Close() })
				}
				sent, err := io.ReadAll(r)
				if i%4 != 0 && err != nil {
					return
				}
				_ = r.Close()
				if got, err := decode(c, bytes.NewReader(sent)); err != nil || !bytes.Equal(got, body) {
					t.Errorf("%s: got %d bytes, %v", c, len(got), err)
				}
				if n, err := r.Read(make([]byte, 1)); n > 0 || err == nil {
					t.Errorf("%s: read behind Close: %d, %v", c, n, err)
				}
			})
		}
		all.Wait()
	}
}

// TestAPanicLeavesNoEncoderToOthers: what it was doing is not known.
func TestAPanicLeavesNoEncoderToOthers(t *testing.T) {
	body := text(rand.New(rand.NewPCG(6, 6)), 50_000)
	for _, c := range codings {
		r := compress.NewReader(&breaking{left: 2, body: body}, c, setting.LevelDefault, new(compress.Counts))
		func() {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			_, _ = io.ReadAll(r)
		}()
		_ = r.Close()
		next := compress.NewReader(&source{pieces: [][]byte{body}, err: io.EOF}, c, setting.LevelDefault, new(compress.Counts))
		if got, err := decode(c, next); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: got %d bytes, %v", c, len(got), err)
		}
		_ = next.Close()
	}
}

type breaking struct {
	left int
	body []byte
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		panic("of a test")
	}
	return copy(p, b.body), nil
}

func (b *breaking) AtHand() bool { return b.left > 0 }

// TestReadersThatAreOpenAreBounded, and no path to an end leaves one open.
func TestReadersThatAreOpenAreBounded(t *testing.T) {
	begin := func(err error) *compress.Reader {
		return compress.NewReader(&source{pieces: [][]byte{[]byte("hello")}, err: err}, compress.Gzip, setting.LevelFastest, new(compress.Counts))
	}
	if n := compress.Open(); n != 0 {
		t.Fatalf("%d readers of other tests are open", n)
	}
	var all []*compress.Reader
	for range compress.MostOpen {
		all = append(all, begin(io.EOF))
	}
	if r := begin(io.EOF); r != nil {
		t.Error("got one more than may be open")
	}
	for i, r := range all {
		switch i % 3 {
		case 0:
			_ = r.Close()
			_ = r.Close()
		case 1:
			_, _ = io.ReadAll(r)
		default:
			_, _ = r.Finish()
			_ = r.Close()
		}
	}
	cut := begin(io.ErrUnexpectedEOF)
	_, _ = io.ReadAll(cut)
	if n := compress.Open(); n != 0 {
		t.Errorf("got %d readers that are open", n)
	}
}

// FuzzReader holds a round trip to its beginning, for any body in any pieces.
func FuzzReader(f *testing.F) {
	f.Add([]byte("hello, hello"), uint64(1), byte(1), true)
	f.Add([]byte{}, uint64(2), byte(6), false)
	f.Fuzz(func(t *testing.T, body []byte, seed uint64, how byte, pauses bool) {
		c, l := codings[int(how)%len(codings)], levels[int(how>>4)%len(levels)]
		r := compress.NewReader(&source{pieces: cutUp(rand.New(rand.NewPCG(seed, 1)), body), pauses: pauses, err: io.EOF}, c, l, new(compress.Counts))
		defer r.Close()
		got, err := decode(c, r)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%s: got %d bytes, %v, want %d", c, len(got), err, len(body))
		}
	})
}
