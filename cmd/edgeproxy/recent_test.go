package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"edgeproxy/internal/edge"
)

// readStatus asks a running program.
func readStatus(t *testing.T, s *server) (out edge.Status) {
	t.Helper()
	_, text := get(t, "http://"+s.admin+"/status")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStatusHasTheLimitsThatBit(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
cache: {memory: {stage_bytes: 0B}}
limits: {rate: {requests: 1, per: 1h, burst: 2}}
origins: {app: {servers: [%q]}}
`, cachedOrigin(t))))
	if got := readStatus(t, s); len(got.Limits.Refused) > 0 || len(got.Limits.LetGo) > 0 || got.Lately < 0 || got.Lately > got.Uptime {
		t.Errorf("at first: got %+v of the last %v s", got.Limits, got.Lately)
	}
	refused := int64(0)
	for range 5 {
		if res, _ := get(t, "http://"+s.address+"/cached"); res.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	got := readStatus(t, s)
	want := map[string]edge.LimitCount{"rate": {Total: refused, Lately: refused}}
	if refused == 0 || fmt.Sprint(got.Limits.Refused) != fmt.Sprint(want) || len(got.Limits.LetGo) > 0 {
		t.Errorf("got %+v, want %v refused", got.Limits, want)
	}
	o := got.Origins[0]
	for _, f := range []edge.FirstByteStatus{o.FirstByte, o.FirstByteLately} {
		if f.Responses != 2 || f.Mean <= 0 || f.P50 <= 0 || f.P95 < f.P50 {
			t.Errorf("got %+v, want two responses of the origin", o)
		}
	}
}
