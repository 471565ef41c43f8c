package proxy

import (
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// OwnAnswer is what a route answers itself, in place of an origin. It is immutable.
type OwnAnswer struct {
	// Status is final, and neither 206 nor 304. With 444 nothing is sent, and the connection ends, or with HTTP/2 the stream.
	Status int
	// Fields are those of the head but Date, Via, Location and what frames the body. They are made by fieldrules.ForAnswers, and go
	// before those of Route.Own.
	Fields fieldrules.Rules
	// Location is where the client should go instead; the zero Location is no such field.
	Location template.Location
	// Body is sent as it is; a 204 has none.
	Body []byte
}

// ownAnswer is an OwnAnswer ready to be sent.
type ownAnswer struct {
	*OwnAnswer
	fields fieldrules.Lines
}

func newOwnAnswer(a *OwnAnswer, own *fieldrules.Rules) *ownAnswer {
	if a == nil {
		return nil
	}
	o := &ownAnswer{OwnAnswer: a}
	o.fields.Add(own, func(name string) bool { return !a.Fields.Drops(name) })
	o.fields.Add(&a.Fields, func(string) bool { return true })
	if o.fields.OfClient() && !o.fields.SetsLifetime() { // caches in front of us may keep it, for others
		o.fields.AddLine("Cache-Control", "private")
	}
	if len(a.Body) > 0 && !a.Fields.Drops("Content-Type") {
		o.fields.AddLine("Content-Type", "text/plain; charset=utf-8")
	}
	return o
}

func (o *ownAnswer) heading(x *exchange) heading {
	b := append(x.answer.Lines, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, x.p.via...)
	b = append(b, "\r\n"...)
	if !o.Location.IsZero() {
		b = append(b, "Location: "...)
		b = o.Location.Append(b, x.askedURL())
		b = append(b, "\r\n"...)
	}
	x.answer.Lines = o.fields.Append(b, x.askedURL(), x)
	return heading{status: o.Status, size: int64(len(o.Body))}
}

func (o *ownAnswer) send(x *exchange, _ selection) {
	x.bytes = int64(len(o.Body))
	x.answer.Say(o.Body)
}

func (*ownAnswer) leave(*exchange) {}

func (*ownAnswer) abandon() {}

// answerItself makes what the route of x says itself the answer.
func (x *exchange) answerItself() {
	x.from, x.status, x.result = x.route.answer, x.route.answer.Status, resultPass
	if x.status == statusNoAnswer {
		x.closing, x.answer.Silent = true, true
	}
}
