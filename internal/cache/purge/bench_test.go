package purge_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/purge"
)

// marked returns a table with n marks of each kind, for other responses of the
// host www.example.com and for other hosts.
func marked(n int) *purge.Table {
	t := purge.New(purge.Options{})
	for i := range n {
		t.Host(fmt.Appendf(nil, "host%d", i), false)
		t.Prefix(at("www.example.com", fmt.Sprintf("/img/%d/", i)), false)
		t.URL(at("www.example.com", fmt.Sprintf("/page/%d", i)), false)
		t.Tag(t.HashTag(fmt.Sprint(i)), false)
	}
	return t
}

// BenchmarkCheck asks for an old response with three tags that nobody purged: what
// purges cost the hits that they do not concern. "younger" was born after them.
func BenchmarkCheck(b *testing.B) {
	u, tags := at("www.example.com", "/img/logo.png?size=2"), []uint64{1, 2, 3}
	f := func(name string, table *purge.Table, born uint64) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if table.Check(born, u, tags) != purge.Valid {
					b.Fatal("purged")
				}
			}
		})
	}

	for _, n := range []int{0, 1, 1000} {
		f(fmt.Sprintf("marks=%d", n), marked(n), 0)
	}
	young := marked(1000)
	f("younger", young, young.Now())
	tagged := purge.New(purge.Options{})
	for i := range 1000 {
		tagged.Tag(tagged.HashTag(fmt.Sprint(i)), false)
	}
	f("tags=1000", tagged, 0)
}

// BenchmarkPurgeTag purges one tag of a thousandth of the responses.
func BenchmarkPurgeTag(b *testing.B) {
	for _, objects := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			table := purge.New(purge.Options{})
			type response struct {
				born uint64
				url  purge.URL
				tags []uint64
			}
			held := make([]response, objects)
			for i := range held {
				held[i] = response{url: at("a", fmt.Sprint("/", i)), tags: []uint64{table.HashTag(fmt.Sprint(i % 1000))}}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				table.Tag(held[i%1000].tags[0], false)
				i++
			}
			for j := range min(i, 1000) {
				r := &held[objects-1000+j]
				if table.Check(r.born, r.url, r.tags) != purge.Gone {
					b.Fatal("not purged")
				}
			}
		})
	}
}

// BenchmarkPurge purges ever new things of each kind, with full tables.
func BenchmarkPurge(b *testing.B) {
	f := func(name string, mark func(t *purge.Table, i int)) {
		b.Run(name, func(b *testing.B) {
			table := marked(1000)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				mark(table, i)
			}
		})
	}

	f("tag", func(t *purge.Table, i int) { t.Tag(uint64(i)*0x9e3779b97f4a7c15, false) })
	f("host", func(t *purge.Table, i int) { t.Host(fmt.Append(nil, i), false) })
	f("url", func(t *purge.Table, i int) { t.URL(at("a", fmt.Sprint("/", i)), false) })
	f("prefix", func(t *purge.Table, i int) { t.Prefix(at("www.example.com", fmt.Sprint("/", i, "/")), false) })
}

// BenchmarkKeep purges ever new URLs: without a file, with one that each purge waits for, and with one for
// a hundred at a time. "parallel" is 8 goroutines, each of which waits for each of its purges.
func BenchmarkKeep(b *testing.B) {
	mark := func(t *purge.Table, i int) { t.URL(at("a", fmt.Sprint("/", i)), false) }
	f := func(name string, table *purge.Table, group int) {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				mark(table, i)
				if i++; i%group == 0 {
					keep(b, table)
				}
			}
		})
	}
	kept := func() *purge.Table {
		table, _ := open(b, b.TempDir(), purge.Options{})
		return table
	}

	f("none", purge.New(purge.Options{}), 1)
	f("each", kept(), 1)
	f("hundred", kept(), 100)
	b.Run("parallel", func(b *testing.B) {
		table := kept()
		var next atomic.Int64
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				mark(table, int(next.Add(1)))
				if err := table.Keep(); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkOpen opens a file with as many marks as tables take.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	table, _ := open(b, dir, purge.Options{})
	for i := range 1 << 16 {
		table.URL(at("a", fmt.Sprint("/", i)), false)
		table.Tag(uint64(i)*0x9e3779b97f4a7c15+1, false)
	}
	for i := range 1 << 10 {
		table.Prefix(at("a", fmt.Sprint("/", i, "/")), false)
	}
	for b.Loop() {
		if err := table.Close(); err != nil {
			b.Fatal(err)
		}
		table, _ = open(b, dir, purge.Options{})
	}
	b.ReportMetric(float64(size(b, filepath.Join(dir, "purges"))), "bytes")
}
