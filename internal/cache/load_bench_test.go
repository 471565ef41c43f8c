package cache

import (
	"fmt"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
)

// BenchmarkLoad is a hit on the disk whose record lies in the page cache, without the sending.
func BenchmarkLoad(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 100 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s, d := newStoreOnDisk(b, usualOptions())
			e := plain("GET http://example.com/some/path/of/usual/length", 1, size)
			e.ResponseTime, e.Policy.Lifetime = time.Unix(1_800_000_000, 0), time.Hour
			for i := range 8 {
				e.Header = append(e.Header, field.Field{Name: fmt.Sprintf("X-Field-%d", i), Value: "a value of usual length"})
			}
			if s.Put(e, nil) != Stored {
				b.Fatal("not stored")
			}
			if s.Put(plain("behind it", 1, 4<<10), nil) != Stored { // or its read goes beyond the end of the file
				b.Fatal("not stored")
			}
			if err := d.Flush(); err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 32<<10)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				o, _ := s.Load(e.Key, e.Name)
				if o == nil {
					b.Fatal("not found")
				}
				if c := o.Content(); c.InFile() {
					for at := int64(0); at < c.Size(); at += int64(len(buf)) {
						_, _ = c.ReadAt(buf, at)
					}
				}
				s.Release(o)
			}
		})
	}
}
