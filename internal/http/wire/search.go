package wire

import (
	"encoding/binary"
	"slices"
)

// searchClass is the first byte of search keys: the keys of responses that answer
// several queries of a path. It differs from methodClass.
const searchClass = 'S'

// ruleBytes is the length of the rule number in a search key.
const ruleBytes = 8

// AppendSearchKey appends the search key of all queries of a path that are
// equivalent by the rule of this number. It consists of the class; scheme, host and
// path, each after its length; the number; and query, the common normalized form,
// after its length. It allocates nothing when dst has room.
func AppendSearchKey(dst []byte, scheme string, host, path []byte, rule uint64, query []byte) []byte {
	dst = AppendSearchPath(dst, scheme, host, path)
	dst = binary.BigEndian.AppendUint64(dst, rule)
	dst = binary.AppendUvarint(dst, uint64(len(query)))
	return append(dst, query...)
}

// AppendSearchPath appends the prefix that all search keys of one path have, and no
// other key.
func AppendSearchPath(dst []byte, scheme string, host, path []byte) []byte {
	dst = append(dst, searchClass)
	dst = binary.AppendUvarint(dst, uint64(len(scheme)))
	dst = append(dst, scheme...)
	dst = binary.AppendUvarint(dst, uint64(len(host)))
	dst = append(dst, host...)
	dst = binary.AppendUvarint(dst, uint64(len(path)))
	return append(dst, path...)
}

// SearchKey returns the search key with which key begins, as whole, and its prefix
// by AppendSearchPath, as path. Both are nil if key does not begin with one. They
// share the bytes of key.
func SearchKey(key []byte) (path, whole []byte) {
	if len(key) == 0 || key[0] != searchClass {
		return nil, nil
	}
	at := 1
	for range 3 { // scheme, host, path
		if at = partEnd(key, at); at < 0 {
			return nil, nil
		}
	}
	end := -1
	if at+ruleBytes <= len(key) {
		end = partEnd(key, at+ruleBytes)
	}
	if end < 0 {
		return nil, nil
	}
	return key[:at:at], key[:end:end]
}

// KeyURL returns the URL of the URL key or search key with which key begins. For a search
// key, target has the normalized query. Ok is false if key begins with neither. The results
// share the bytes of key, except for such a target.
func KeyURL(key []byte) (scheme, host, target []byte, ok bool) {
	if len(key) == 0 || key[0] != methodClass && key[0] != searchClass {
		return nil, nil, nil, false
	}
	var parts [3][]byte
	at := 1
	for i := range parts {
		end := partEnd(key, at)
		if end < 0 {
			return nil, nil, nil, false
		}
		parts[i], at = part(key, at, end), end
	}
	if key[0] == searchClass {
		from := at + ruleBytes
		end := -1
		if from <= len(key) {
			end = partEnd(key, from)
		}
		if end < 0 {
			return nil, nil, nil, false
		}
		if query := part(key, from, end); len(query) > 0 {
			parts[2] = append(append(slices.Clip(parts[2]), '?'), query...)
		}
	}
	return parts[0], parts[1], parts[2], true
}

// part returns the part whose length is at key[at:] and which ends at end.
func part(key []byte, at, end int) []byte {
	length, _ := binary.Uvarint(key[at:])
	return key[end-int(length) : end : end]
}

// partEnd returns where the part ends whose length is at key[at:], -1 if key ends
// before.
func partEnd(key []byte, at int) int {
	length, n := binary.Uvarint(key[at:])
	if n <= 0 || length > uint64(len(key)-at-n) {
		return -1
	}
	return at + n + int(length)
}
