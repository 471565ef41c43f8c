package compress_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/proxy/compress"
)

// html is a page as templates make it: the same elements, other words.
func html(n int) []byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<article class=\"card card--wide\" data-id=\"%d\">\n  <h2><a href=\"/news/%x\">", rnd.IntN(1e6), rnd.Uint64())
		for range 40 {
			const letters = "eeeeettttaaaooiinnsshhrrdlucmfwypvbgk"
			for range 2 + rnd.IntN(8) {
				b.WriteByte(letters[rnd.IntN(len(letters))])
			}
			b.WriteByte(' ')
		}
		b.WriteString("</a></h2>\n</article>\n")
	}
	return b.Bytes()[:n]
}

// BenchmarkReader says what a miss costs more where it is compressed: time, and how many bytes are left of each.
func BenchmarkReader(b *testing.B) {
	for _, size := range []int{8 << 10, 100 << 10} {
		body := html(size)
		for _, c := range codings {
			for _, l := range levels {
				b.Run(fmt.Sprintf("%s/%s/%dKiB", c, l, size>>10), func(b *testing.B) {
					b.SetBytes(int64(size))
					b.ReportAllocs()
					var sent int64
					to := make([]byte, 32<<10)
					counts := new(compress.Counts)
					for b.Loop() {
						r := compress.NewReader(&reading{*bytes.NewReader(body)}, c, l, counts)
						sent = 0
						for {
							n, err := r.Read(to)
							if sent += int64(n); err == io.EOF { //nolint:errorlint // it is no other
								break
							}
						}
						_ = r.Close()
					}
					b.ReportMetric(float64(sent)/float64(size), "left")
				})
			}
		}
	}
}

type reading struct{ bytes.Reader }

func (*reading) AtHand() bool { return true }

// BenchmarkEncoder says what memory an encoder has, which a response in the making holds.
func BenchmarkEncoder(b *testing.B) {
	body := html(1 << 20)
	for _, c := range codings {
		for _, l := range levels {
			b.Run(fmt.Sprint(c, "/", l), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					compress.Forget()
					r := compress.NewReader(&reading{*bytes.NewReader(body)}, c, l, new(compress.Counts))
					_, _ = io.Copy(io.Discard, struct{ io.Reader }{r})
					_ = r.Close()
				}
			})
		}
	}
}
