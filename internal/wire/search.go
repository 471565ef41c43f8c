package wire

import "encoding/binary"

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

// partEnd returns where the part ends whose length is at key[at:], -1 if key ends
// before.
func partEnd(key []byte, at int) int {
	length, n := binary.Uvarint(key[at:])
	if n <= 0 || length > uint64(len(key)-at-n) {
		return -1
	}
	return at + n + int(length)
}
