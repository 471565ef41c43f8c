package buffer

import "testing"

// A body of 2.1 KiB took a room of 16 KiB, which a client that does not read keeps.
func TestABufferIsAtMostTwiceItsBytes(t *testing.T) {
	for n := int64(0); n <= 2*Largest; n += 7 {
		b := Get(n)
		if got := int64(len(b.Bytes())); got != n {
			t.Fatalf("got %d bytes, want %d", got, n)
		}
		if room := int64(cap(b.Bytes())); room > max(2*n, least) {
			t.Fatalf("%d bytes: got a room of %d", n, room)
		}
		b.Release()
	}
}

// The memory of one that somebody still owns, or keeps, is given to nobody else.
func TestMemoryInUseIsNotLent(t *testing.T) {
	f := func(name string, use func(b *Buffer)) {
		t.Run(name, func(t *testing.T) {
			b := Get(1000)
			bytes := b.Bytes()
			use(b)
			for range 100 {
				if other := Get(1000).Bytes(); &other[0] == &bytes[0] {
					t.Fatal("lent twice")
				}
			}
		})
	}
	f("owned", func(*Buffer) {})
	f("shared", func(b *Buffer) { b.Share(); b.Release() })
	f("kept", func(b *Buffer) { b.Keep(); b.Release() })
}

func TestNilHasNoBytes(t *testing.T) {
	var b *Buffer
	b.Share()
	b.Keep()
	b.Release()
	if b.Bytes() != nil {
		t.Error("bytes of nil")
	}
}

// One that was released twice was lent to two owners at once.
func TestAReleaseByNoOwnerPanics(t *testing.T) {
	b := Get(10)
	b.Keep()
	b.Release()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	b.Release()
}
