package trace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead reads 100,000 lines of each format, from memory, for 10 objects.
func BenchmarkRead(b *testing.B) {
	const lines = 100_000
	f := func(name, header string, line func(i int) string) {
		b.Run(name, func(b *testing.B) {
			text := bytes.NewBufferString(header)
			for i := range lines {
				text.WriteString(line(i))
			}
			data := text.Bytes()
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tr, err := Read(b.Context(), []string{"-"}, Options{Input: bytes.NewReader(data), Format: name})
				if err != nil {
					b.Fatal(err)
				}
				if got := tr.Facts().Requests; got != lines {
					b.Fatalf("got %d requests, want %d", got, lines)
				}
				closeTrace(b, tr)
			}
			b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "lines/s")
		})
	}
	combined := strings.SplitAfter(string(combinedLines(3600)), "\n")
	f(formatCombined, "", func(i int) string { return combined[i%3600] })
	f(formatSeq, "", func(i int) string { return fmt.Sprintf("%d %d 1234\n", i, i%10) })
	f(formatTSV, "time\tmethod\turl\tresponse\tbytes\n", func(i int) string {
		return fmt.Sprintf("%d\tGET\t/images/articles/2015/picture-%d.png\t200\t1234\n", 1_700_000_000+i/10, i%10)
	})
	f(formatCSV, "time,method,url,response,bytes\n", func(i int) string {
		return fmt.Sprintf("%d,GET,\"/images/articles/2015/picture-%d.png\",200,1234\n", 1_700_000_000+i/10, i%10)
	})
	f(formatJSON, "", func(i int) string {
		return fmt.Sprintf(`{"time":"2026-01-02T03:04:%02d.000006Z","host":"www.example.org","target":"/images/articles/2015/picture-%d.png","method":"GET",`+
			`"status":200,"bytes":1234,"result":"hit","reason":"","route":"default","duration":0.000123,"first_byte":0.0001,"client":"203.0.113.7"}`+"\n", i/1000%60, i%10)
	})
}

// BenchmarkEach replays requests from the temporary file.
func BenchmarkEach(b *testing.B) {
	tr, want := madeUp(b, 1_000_000, 10_000, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		err := tr.Each(b.Context(), func([]Access) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(want))/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkObjects reads requests that are each for another object.
func BenchmarkObjects(b *testing.B) {
	const spec = "zipf:requests=200000,one-hit=1,objects=1,size=fixed:1KiB"
	for b.Loop() {
		tr, err := Read(b.Context(), []string{spec}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		closeTrace(b, tr)
	}
	b.ReportMetric(float64(b.N)*200_000/b.Elapsed().Seconds(), "objects/s")
}
