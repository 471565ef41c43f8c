package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	c := Default()
	c.Admin.Token = "a-token-of-the-admin"
	data, err := json.Marshal(c.Admin)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		string(data), fmt.Sprint(c.Admin), fmt.Sprintf("%v %+v %#v %s %q", c.Admin, c.Admin, c.Admin, c.Admin.Token, c.Admin.Token),
	} {
		if strings.Contains(text, "a-token") || !strings.Contains(text, stars) {
			t.Errorf("got %s, want stars in place of the token", text)
		}
	}
}

// Problems of a file repeat the values that they are about.
func TestProblemsDoNotShowSecrets(t *testing.T) {
	for _, line := range []string{
		`{token: a-token, token_file: f}`, `{token: "a-token with a space"}`, `{token: [a-token]}`, `{token: {a-token: 1}}`,
		`{token: "a-token${NONE}"}`, `{token: "a-token$"}`, `{token: &a a-token}`, `{token: !!str a-token}`, `{token: a-token, address: ":9980", hosts: ["*"]}`,
	} {
		_, err := Parse("edge.yaml", []byte("origins: {app: {servers: [\"http://h\"]}}\nadmin: "+line+"\n"))
		if err == nil {
			t.Errorf("%s: want an error", line)
		} else if strings.Contains(err.Error(), "a-token") && !strings.Contains(line, "{a-token") {
			t.Errorf("%s: got %v, want no token in it", line, err)
		}
	}
}
