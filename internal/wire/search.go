package wire

import (
	"encoding/binary"
	"slices"
)

// searchClass opens the keys of responses that answer several queries of a path. No
// key of AppendKey begins so.
const searchClass = 'S'

// ruleBytes is the length of a rule's number in such a key.
const ruleBytes = 8

// AppendSearchKey appends the URL key of all queries of a path that mean the same
// by the rule of this number: the class, then scheme, host and path, each with its
// length before it, the number, and query, the form in which they are the same,
// with its length. It allocates nothing when dst has room.
func AppendSearchKey(dst []byte, scheme string, host, path []byte, rule uint64, query []byte) []byte {
	dst = AppendSearchPath(dst, scheme, host, path)
	dst = binary.BigEndian.AppendUint64(dst, rule)
	dst = binary.AppendUvarint(dst, uint64(len(query)))
	return append(dst, query...)
}

// AppendSearchPath appends what the search keys of one path begin with, and no other
// key does.
func AppendSearchPath(dst []byte, scheme string, host, path []byte) []byte {
	dst = append(dst, searchClass)
	dst = binary.AppendUvarint(dst, uint64(len(scheme)))
	dst = append(dst, scheme...)
	dst = binary.AppendUvarint(dst, uint64(len(host)))
	dst = append(dst, host...)
	dst = binary.AppendUvarint(dst, uint64(len(path)))
	return append(dst, path...)
}

// SearchKey finds a search key at the beginning of key, and in it what
// AppendSearchPath appends. Both are nil if there is none. They share the bytes of
// key.
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

// KeyURL returns the URL that the key names which key begins with: of a search key, the one
// target that stands for all whose query is the same. Ok is false if it begins with none. It
// shares the bytes of key, but for such a target.
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
