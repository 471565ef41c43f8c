package proxy

import (
	"errors"
	"testing"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/setting"
)

func TestARequestHasAsManyTrailersAsFields(t *testing.T) {
	p := &Proxy{}
	f := func(list field.List, fault, want error) {
		t.Helper()
		x := received(t, "POST / HTTP/1.1\r\nHost: h\r\n\r\n")
		x.settings = &settings{Live: Live{Limits: setting.Limits{HeaderCount: 1}}}
		x.route = &route{Route: &Route{}, Key: &cachekey.Rules{}}
		x.upload = &upload{src: &testBody{length: -1, list: list, err: fault}}
		p.ownTrailers(x, &origin.Request{})
		got, err := x.upload.section()
		if !errors.Is(err, want) || err == nil && len(got) != len(list) {
			t.Errorf("%v: got %v, %v, want %v", list, got, err, want)
		}
	}
	one := field.List{{Name: "X-Sum", Value: "1"}}
	f(one, nil, nil)
	f(append(one, one...), nil, errManyTrailers)
	f(nil, errors.New("broken"), errTrailer)
}
