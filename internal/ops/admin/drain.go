package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"
)

// What an operator may want of a server, as HAProxy calls it.
const (
	stateReady = "ready"
	stateDrain = "drain"
)

// drainOrder is the body of a request for /origins.
type drainOrder struct {
	Origin string `json:"origin"`
	Server string `json:"server"`
	State  string `json:"state"`
}

// maxDrainBody bounds that body, in bytes.
const maxDrainBody = 16 << 10

// drainHandler answers with the order, whose state is the server's own then.
func drainHandler(d Drainer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDrainBody))
		if err != nil {
			refuseBody(w, err)
			return
		}
		order, err := parseDrain(body)
		if err == nil {
			order.State, err = d.DrainServer(order.Origin, order.Server, order.State == stateDrain)
		}
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		_ = writeJSON(w, http.StatusOK, "", order) // strings can be encoded
	})
}

// parseDrain is as strict as parsePurge: what is misspelt changes nothing.
func parseDrain(body []byte) (o drainOrder, err error) {
	if !utf8.Valid(body) {
		return o, errors.New("the body is not valid UTF-8")
	}
	keys, err := parseObject(body)
	if err != nil {
		return o, err
	}
	for key, into := range map[string]*string{"origin": &o.Origin, "server": &o.Server, "state": &o.State} {
		if err := json.Unmarshal(keys[key], into); err != nil || *into == "" {
			return o, errors.New(`must be a JSON object with origin, server and state, such as {"origin": "app", "server": "10.0.0.1:9000", "state": "drain"}`)
		}
		delete(keys, key)
	}
	for key := range keys {
		return o, fmt.Errorf("%s: unknown key", quote(key))
	}
	if o.State != stateReady && o.State != stateDrain {
		return o, fmt.Errorf("state: %s: must be %s or %s", quote(o.State), stateReady, stateDrain)
	}
	return o, nil
}
