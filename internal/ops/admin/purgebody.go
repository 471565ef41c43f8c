package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// purgeAll is the key without values.
const purgeAll = "all"

var errPurgeForm = errors.New(`must be a JSON object with one of url, prefix, host, tag and all, such as {"url": "http://HOST/PATH"}`)

// purgeOrder is what a purge request asks for.
type purgeOrder struct {
	by     string   // the key of the request
	values []string // nil for all
	soft   bool
}

// parsePurge parses a purge request. It is strict: a key that is misspelt, repeated
// or unknown must not purge less, or more, than was meant. Keys are case-sensitive,
// unlike in json.Unmarshal.
func parsePurge(body []byte) (purgeOrder, error) {
	var o purgeOrder
	if !utf8.Valid(body) { // encoding/json would put U+FFFD into the URL
		return o, errors.New("the body is not valid UTF-8")
	}
	keys, err := parseObject(body)
	if err != nil {
		return o, err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) { // sorted, so that the same request gets the same error
		if err := o.read(key, keys[key]); err != nil {
			return purgeOrder{}, err
		}
	}
	if o.by == "" {
		return purgeOrder{}, errPurgeForm
	}
	return o, nil
}

// read adds one key to o.
func (o *purgeOrder) read(key string, raw json.RawMessage) error {
	switch key {
	case "soft":
		return parseSoft(raw, &o.soft)
	case "url", "prefix", "host", "tag", purgeAll:
	default:
		return fmt.Errorf("%s: unknown key", quote(key))
	}
	if o.by != "" {
		return fmt.Errorf("%s: must be one of url, prefix, host, tag and all, not %s beside it", key, o.by)
	}
	o.by = key
	if key == purgeAll {
		if string(raw) != "true" {
			return errors.New("all: must be true")
		}
		return nil
	}
	values, err := parseValues(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	o.values = values
	return nil
}

func parseSoft(raw json.RawMessage, soft *bool) error {
	switch string(raw) {
	case "true":
		*soft = true
	case "false":
	default:
		return errors.New("soft: must be true or false")
	}
	return nil
}

// parseObject decodes one JSON object with distinct keys and nothing after it.
func parseObject(body []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errPurgeForm
	}
	keys := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("bad JSON: %w", err)
		}
		key, _ := token.(string) // the decoder allows only strings as keys
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("bad JSON: %w", err)
		}
		if _, twice := keys[key]; twice {
			return nil, fmt.Errorf("%s: given twice", quote(key))
		}
		keys[key] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("bad JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("bad JSON: something follows the object")
	}
	return keys, nil
}

var errValues = errors.New("must be a string or a list of at least one, none of them empty")

func parseValues(raw json.RawMessage) ([]string, error) {
	var values []string
	if len(raw) > 0 && raw[0] == '"' {
		values = make([]string, 1)
		if err := json.Unmarshal(raw, &values[0]); err != nil {
			return nil, errValues
		}
	} else if err := json.Unmarshal(raw, &values); err != nil {
		return nil, errValues
	}
	if len(values) == 0 || slices.Contains(values, "") { // null in a list becomes "" too
		return nil, errValues
	}
	return values, nil
}

// quote quotes and shortens a text from the client for an error message.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
