package top

import "hash/maphash"

// Key is the text of a key, in parts: a host, or a URL. The caller owns its bytes; they are only read.
type Key struct {
	Scheme       string // "" for a host
	Host, Target []byte
}

// copyTo copies as much of the text as fits. cut says that it did not fit.
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

// hashes returns the hashes of the host and of the URL. Both are seeded, so that no client can make two keys collide.
func (t *Table) hashes(r *Request) (host, url uint64) {
	const odd = 0x9e3779b97f4a7c15 // from the golden ratio; it makes the order of the parts matter
	host = maphash.Bytes(t.seed, r.Host)
	url = (host+uint64(len(r.Scheme)))*odd + maphash.Bytes(t.seed, r.Target)
	return host, url ^ url>>29
}
