package tracecontext

// A traceparent of version 00 is 00-TRACE-PARENT-FLAGS, with 2, 32, 16 and 2 digits.
const (
	traceAt  = len("00-")
	traceEnd = traceAt + 32
	parentAt = traceEnd + 1
	flagsAt  = parentAt + 16 + 1
	length   = flagsAt + 2
)

// TraceID returns the trace id of a value of traceparent: 32 hexadecimal digits, which share the
// memory of value. It returns nil where value is not valid. Of a version above 00 the parts that
// it shares with 00 have to be valid, and what follows is not looked at (section 3.2.4).
func TraceID(value []byte) []byte {
	switch {
	case len(value) < length, value[traceAt-1] != '-', value[traceEnd] != '-', value[flagsAt-1] != '-':
		return nil
	case !isHex(value[:2]), string(value[:2]) == "ff", !isHex(value[flagsAt:length]):
		return nil
	case len(value) > length && (string(value[:2]) == "00" || value[length] != '-'):
		return nil
	case !isID(value[traceAt:traceEnd]), !isID(value[parentAt : flagsAt-1]):
		return nil
	}
	return value[traceAt:traceEnd]
}

// isID reports whether s is hexadecimal, and not all zeros.
func isID(s []byte) bool {
	zero := true
	for _, c := range s {
		zero = zero && c == '0'
	}
	return !zero && isHex(s)
}

// isHex reports whether s has digits and small letters of hexadecimal numbers only.
func isHex(s []byte) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
