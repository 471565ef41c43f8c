package cache_test

import (
	"fmt"
	"slices"

	"edgeproxy/internal/cache"
)

func Example() {
	store, err := cache.New(cache.Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	hasher, err := cache.NewHasher(0x9e3779b97f4a7c15) // random in earnest
	if err != nil {
		fmt.Println(err)
		return
	}

	url := []byte("https://example.com/page\x00")
	gzip := append(slices.Clip(url), "gzip"...)
	fmt.Println(store.Put(&cache.Entry{
		Key: hasher.Sum(gzip), Name: gzip,
		URL: hasher.Sum(url), URLLen: int32(len(url)), Vary: []string{"Accept-Encoding"},
		Status: 200, Content: cache.InMemory([]byte("…")),
	}, nil))

	lists := store.Vary(hasher.Sum(url), url)
	_, heldBack := store.Find(hasher.Sum(gzip), gzip)
	fmt.Println(lists.Len(), lists.At(0), heldBack)
	fmt.Println(store.Purge(hasher.Sum(url), url), store.Objects())
	// Output:
	// stored
	// 1 [Accept-Encoding] false
	// 1 0
}
