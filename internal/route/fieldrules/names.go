package fieldrules

import "strings"

// AboutLifetime reports whether a field says for how long an answer may be kept. name is canonical.
func AboutLifetime(name string) bool {
	switch name {
	case "Expires", "Pragma", "Surrogate-Control":
		return true
	}
	return strings.HasSuffix(name, "Cache-Control")
}

// AboutContent reports whether a field is about one representation, or says how it is purged. name is canonical.
func AboutContent(name string) bool {
	switch name {
	case "Content-Type", "Content-Language", "Content-Location", "Content-Disposition", "Content-Digest", "Content-Md5", "Repr-Digest", "Digest",
		"Etag", "Last-Modified", "Accept-Ranges", "Surrogate-Key", "Cache-Tag", "Cache-Tags", "Purge-Cache-Tags", "Xkey", "X-Cache-Tags", "X-Magento-Tags",
		"X-Amz-Meta-Cache-Tag":
		return true
	}
	return false
}
