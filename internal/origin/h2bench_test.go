package origin

import (
	"io"
	"net/http"
	"testing"
)

// BenchmarkRoundTripHTTP2 beside BenchmarkRoundTrip is what a request by HTTP/2 costs, the server's part included.
func BenchmarkRoundTripHTTP2(b *testing.B) {
	o := overH2(b, Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1024)) })
	b.ReportAllocs()
	for b.Loop() {
		res, err := o.RoundTrip(b.Context(), get("/"))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
	}
}
