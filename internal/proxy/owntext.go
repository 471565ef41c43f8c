package proxy

import "edgeproxy/internal/http/reason"

// ownText answers with a short text of our own: an error, with the reason in Cache-Status, or what a
// purge or a challenge gets. Nothing of the inside leaks. A route may have a page in place of the text of an error,
// and the operator fields of each (fieldrules.Lines).
type ownText struct{}

func (ownText) heading(x *exchange) heading {
	b := append(x.answer.Lines, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, x.p.via...)
	content, kind := x.ownContent()
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, kind...)
	b = append(b, "\r\nCache-Control: no-store\r\n"...)
	switch x.status {
	case statusServiceUnavailable, statusTooManyRequests:
		b = appendInt(b, "Retry-After: ", seconds(x.retryAfter))
	case statusUnauthorized:
		if x.purges() {
			b = append(b, "WWW-Authenticate: Bearer realm=\"edgeproxy purge\"\r\n"...)
		} else {
			b = x.appendAuthenticate(b)
		}
	case statusMethodNotAllowed:
		b = append(b, "Allow: "+allowedMethods+"\r\n"...)
	case statusOK:
		if x.asksOptions() {
			b = append(b, "Allow: "+allowedMethods+"\r\n"...)
		}
	}
	x.answer.Lines = x.appendOwnFields(b)
	return heading{status: x.status, size: int64(len(content))}
}

func (ownText) send(x *exchange, _ selection) {
	content, _ := x.ownContent()
	x.bytes = int64(len(content))
	x.answer.Say(content)
}

func (ownText) leave(*exchange) {}

func (ownText) abandon() {}

// ownContent is what x is answered with, and of which type.
func (x *exchange) ownContent() (content []byte, kind string) {
	const text = "text/plain; charset=utf-8"
	if x.challenge != "" {
		return []byte(x.challenge), text
	}
	if x.explained != "" {
		return []byte(x.explained + "\n"), text
	}
	if page := x.ownPage(); page != nil {
		return page.Body, page.Type
	}
	if x.reason == reason.PlainHTTP {
		return []byte("Bad Request: this port expects TLS: use a URL that begins with https\n"), text
	}
	return []byte(statusText(x.status) + "\n"), text
}

// answerText makes the answer of x a text of our own.
func (x *exchange) answerText(status int, r result) {
	x.from, x.status, x.result = ownText{}, status, r
}

// appendOwnFields appends the operator's fields of a text of ours for x, as lines of its head. A request without a route has those
// of its settings.
func (x *exchange) appendOwnFields(b []byte) []byte {
	own := &x.settings.own
	if x.route != nil {
		own = &x.route.own
	}
	return own.Append(b, x.askedURL(), x)
}
