package proxy

// ownText answers with a short text of our own: an error, with the reason in Cache-Status, or what a
// purge or a challenge gets. Nothing of the inside leaks.
type ownText struct{}

func (ownText) heading(x *exchange) heading {
	b := append(x.answer.Lines, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, x.p.via...)
	b = append(b, "\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"...)
	switch x.status {
	case statusServiceUnavailable, statusTooManyRequests:
		b = appendInt(b, "Retry-After: ", seconds(x.retryAfter))
	case statusUnauthorized:
		b = x.appendAuthenticate(b)
	case statusMethodNotAllowed:
		b = append(b, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"...)
	}
	x.answer.Lines = b
	size := int64(len(x.ownText()))
	return heading{status: x.status, size: size}
}

func (ownText) send(x *exchange, _ cut) {
	text := x.ownText()
	x.bytes = int64(len(text))
	x.answer.Say([]byte(text))
}

func (ownText) leave(*exchange) {}

func (ownText) abandon() {}

// ownText is what x is answered with.
func (x *exchange) ownText() string {
	if x.challenge != "" {
		return x.challenge
	}
	return statusText(x.status) + "\n"
}

// say makes the answer of x a text of our own.
func (x *exchange) say(status int, r result) { x.from, x.status, x.result = ownText{}, status, r }
