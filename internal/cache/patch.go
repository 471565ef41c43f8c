package cache

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/http/field"
)

// This file encodes most 304s for a record on the disk in 32 bytes. So the renewal outlives the process, and the record
// is not rewritten:
//
//	 0  ResponseTime, in nanoseconds since 1970: 8 bytes
//	 8  InitialAge, in milliseconds, rounded up: 4 bytes
//	12  of Policy Lifetime, WhileRevalidate and IfError, in seconds: 4 bytes each
//	24  the field Date, in seconds since 1970: 8 bytes
//
// Any other 304 is in memory alone (renewal.go). Serial and Born stay those of the record. So a purge reaches it as
// before, at worst once too often.

// patchOf returns the patch that turns e into renewed; false if 32 bytes cannot say that.
func patchOf(e, renewed *Entry) (p disk.Patch, ok bool) {
	date, _ := renewed.Header.Get("Date")
	at, err := time.Parse(httpDate, date)
	age := (renewed.InitialAge + time.Millisecond - 1) / time.Millisecond
	if err != nil || renewed.ResponseTime.IsZero() || age < 0 || age > math.MaxUint32 {
		return p, false
	}
	le := binary.LittleEndian
	le.PutUint64(p[0:], uint64(renewed.ResponseTime.UnixNano())) //nolint:gosec // it comes back as it was
	le.PutUint32(p[8:], uint32(age))
	for i, d := range patchedSpans(renewed) {
		le.PutUint32(p[12+4*i:], uint32(*d/time.Second)) //nolint:gosec // sameResponse detects what does not fit
	}
	le.PutUint64(p[24:], uint64(at.Unix())) //nolint:gosec // a time after 1970, as above
	return p, sameResponse(patched(e, p), renewed)
}

// httpDate is the form of the field Date (RFC 9110 section 5.6.7).
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

func patchedSpans(e *Entry) [3]*time.Duration {
	return [...]*time.Duration{&e.Policy.Lifetime, &e.Policy.WhileRevalidate, &e.Policy.IfError}
}

// patched returns e with p applied. It copies what differs.
func patched(e *Entry, p disk.Patch) *Entry {
	out, le := *e, binary.LittleEndian
	out.ResponseTime = time.Unix(0, int64(le.Uint64(p[0:]))).UTC() //nolint:gosec // it was one
	out.InitialAge = time.Duration(le.Uint32(p[8:])) * time.Millisecond
	for i, d := range patchedSpans(&out) {
		*d = time.Duration(le.Uint32(p[12+4*i:])) * time.Second
	}
	out.Header = slices.Clone(e.Header)
	date := time.Unix(int64(le.Uint64(p[24:])), 0).UTC().Format(httpDate) //nolint:gosec // it was one
	for i := range out.Header {
		if out.Header[i].Name == "Date" {
			out.Header[i].Value = date
		}
	}
	return &out
}

// sameResponse reports whether a and b are equal, except for their ages and identities. The order of fields with
// different names does not matter.
func sameResponse(a, b *Entry) bool {
	byName := func(x, y field.Field) int { return strings.Compare(x.Name, y.Name) }
	x, y := slices.Clone(a.Header), slices.Clone(b.Header)
	slices.SortStableFunc(x, byName)
	slices.SortStableFunc(y, byName)
	return a.Status == b.Status && a.Policy == b.Policy && slices.Equal(a.Tags, b.Tags) && slices.Equal(x, y)
}

// FoldPatch returns the block of a record with p applied; nil if that cannot be encoded. It is for disk.Options.Fold.
func FoldPatch(block []byte, p disk.Patch) []byte {
	e, err := RecordEntry(block)
	if err != nil {
		return nil
	}
	b, err := appendEntry(slices.Clone(block[:stampBytes]), patched(e, p))
	if err != nil {
		return nil
	}
	return b
}

// patchDisk patches the disk's record under renewed's name to match renewed, if the record has this Serial. It may
// wait. If it fails, only memory has the renewal.
func (s *Store) patchDisk(renewed *Entry, serial uint64) {
	d := s.disk
	h := d.hash(renewed.Name)
	var hit disk.Hit
	if !d.Find(h, renewed.Name, &hit) {
		return
	}
	e := d.entryOf(hit.Block)
	number := hit.Serial
	hit.Free()
	if e == nil || e.isMarker() || e.Serial != serial {
		return
	}
	if p, ok := patchOf(e, renewed); ok {
		_ = d.Patch(h, renewed.Name, number, p)
	}
}
