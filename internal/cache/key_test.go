package cache

import (
	"errors"
	"testing"
)

func TestSeedZeroIsRefused(t *testing.T) {
	if _, err := NewHasher(0); !errors.Is(err, ErrZeroSeed) {
		t.Errorf("NewHasher(0): got error %v, want %v", err, ErrZeroSeed)
	}
}

func TestSumDependsOnKeyAndSeedOnly(t *testing.T) {
	h1, err1 := NewHasher(1)
	h2, err2 := NewHasher(2)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	name := []byte("https://example.com/a")
	k := h1.Sum(name)
	if got := h1.Sum(append([]byte(nil), name...)); got != k {
		t.Errorf("same key, same seed: got %v, want %v", got, k)
	}
	if got := h2.Sum(name); got.Hi == k.Hi || got.Lo == k.Lo {
		t.Errorf("other seed: got %v, want both words to differ from %v", got, k)
	}
	if got := h1.Sum([]byte("https://example.com/b")); got.Hi == k.Hi || got.Lo == k.Lo {
		t.Errorf("other key: got %v, want both words to differ from %v", got, k)
	}
	if n := testing.AllocsPerRun(100, func() { h1.Sum(name) }); n != 0 {
		t.Errorf("Sum: got %v allocations, want 0", n)
	}
}
