package top

import "hash/maphash"

// Key is the text of a key, in parts: a host, or a URL. It belongs to the caller and is only read.
type Key struct {
	Scheme       string // "" for a host
	Host, Target []byte
}

// copyTo copies as much of the text as there is room for.
func (k *Key) copyTo(to []byte) (size int, cut bool) {
	if k.Scheme != "" {
		size = copy(to, k.Scheme)
		size += copy(to[size:], "://")
	}
	size += copy(to[size:], k.Host)
	size += copy(to[size:], k.Target)
	return size, size < k.length()
}

func (k *Key) length() int {
	n := len(k.Host) + len(k.Target)
	if k.Scheme != "" {
		n += len(k.Scheme) + len("://")
	}
	return n
}

// hashes returns the hash of the host and that of the URL. Both have a seed, so nobody outside can make two keys share one.
func (t *Table) hashes(r *Request) (host, url uint64) {
	const odd = 0x9e3779b97f4a7c15 // of the golden ratio: the order of the parts counts
	host = maphash.Bytes(t.seed, r.Host)
	url = (host+uint64(len(r.Scheme)))*odd + maphash.Bytes(t.seed, r.Target)
	return host, url ^ url>>29
}
