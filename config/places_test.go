package config

import (
	"strings"
	"testing"
)

func TestPlacesOfFieldsAreChecked(t *testing.T) {
	const (
		unknown = `, request_id in braces, and {{ or }} for a literal brace: {remote_addr} is not a placeholder`
		client  = "must be without {client} and {request_id} here: these rules apply before a response is stored"
	)
	got := strings.Split(problems(`origins: {app: {servers: ["http://h"]}}
routes:
  - name: a
    origin: app
    headers:
      request: {set: {X-Real-IP: "{remote_addr}", X-Ok: "{client} {{}}"}}
      response: {set: {X-Id: "{request_id}", X-Who: "{client}", NEL: '{"max_age":1}'}}
    match: {path_prefix: /a}
  - {name: b, respond: {status: 200, headers: {X-Id: "{request_id}", X-Bad: "}"}}}
headers: {generated: {set: {X-Id: "{client} {request_id}", X-No: "{status}"}}}
`), "\n")
	for i, want := range []string{
		"e.yaml:6:34: routes[0].headers.request.set.X-Real-IP: {remote_addr}: must be scheme, host, hostport, port, path, query, uri, client" + unknown,
		"e.yaml:7:30: routes[0].headers.response.set.X-Id: {request_id}: " + client,
		"e.yaml:7:53: routes[0].headers.response.set.X-Who: {client}: " + client,
		`e.yaml:7:70: routes[0].headers.response.set.NEL: {"max_age":1}: must be scheme, `,
		"e.yaml:9:77: routes[1].respond.headers.X-Bad: }: must be {name} for a placeholder, and {{ or }} for a literal brace",
		"e.yaml:10:66: headers.generated.set.X-No: {status}: must be scheme, host, hostport, port, path, query, uri, client, request_id in braces",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("got\n%s\nwant in line %d\n%s", strings.Join(got, "\n"), i+1, want)
		}
	}
	if len(got) != 6 {
		t.Errorf("got %d problems, want 6:\n%s", len(got), strings.Join(got, "\n"))
	}
}
