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

var (
	errNotObject = errors.New(`want a JSON object such as {"url": "http://HOST/PATH"}`)
	errURLForm   = errors.New("url: want a string or a list of at least one, none of them empty")
)

// parsePurge returns the URLs of a purge request. It is strict: a key that is
// misspelt, given twice or not supported must not purge less, or more, than
// was meant. Keys are compared as they are, unlike in json.Unmarshal.
func parsePurge(body []byte) ([]string, error) {
	if !utf8.Valid(body) { // or encoding/json would put U+FFFD into the URL
		return nil, errors.New("the body is not valid UTF-8")
	}
	keys, err := parseObject(body)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) { // sorted: the same request gets the same answer
		if err := checkKey(key, keys[key]); err != nil {
			return nil, err
		}
	}
	raw, ok := keys["url"]
	if !ok {
		return nil, errNotObject
	}
	return parseURLs(raw)
}

// parseObject decodes one JSON object with distinct keys and nothing after it.
func parseObject(body []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errNotObject
	}
	keys := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("bad JSON: %w", err)
		}
		key, _ := token.(string) // the decoder has checked that a key is one
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

func checkKey(key string, raw json.RawMessage) error {
	switch key {
	case "url":
		return nil
	case "prefix", "host", "tag", "all":
		return fmt.Errorf("%s: not supported yet", key)
	case "soft":
		switch string(raw) {
		case "false":
			return nil
		case "true":
			return errors.New("soft: true: not supported yet")
		}
		return errors.New("soft: want true or false")
	}
	return fmt.Errorf("%s: unknown key", quote(key))
}

func parseURLs(raw json.RawMessage) ([]string, error) {
	var urls []string
	if len(raw) > 0 && raw[0] == '"' {
		urls = make([]string, 1)
		if err := json.Unmarshal(raw, &urls[0]); err != nil {
			return nil, errURLForm
		}
	} else if err := json.Unmarshal(raw, &urls); err != nil {
		return nil, errURLForm
	}
	if len(urls) == 0 {
		return nil, errURLForm
	}
	if slices.Contains(urls, "") { // null in a list comes here too
		return nil, errURLForm
	}
	return urls, nil
}

// quote makes a text from the client fit for an error message.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
