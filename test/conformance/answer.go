package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// answer is what the suite says of a test that was played: nothing, or an error.
type answer struct {
	held          bool
	name, message string // the error's
}

// UnmarshalJSON reads true, or the pair of an error's name and message.
func (a *answer) UnmarshalJSON(text []byte) error {
	if string(text) == "true" {
		*a = answer{held: true}
		return nil
	}
	var pair [2]string
	if err := json.Unmarshal(text, &pair); err != nil {
		return fmt.Errorf("read the answer %s: must be true, or a name and a message: %w", text, err)
	}
	*a = answer{name: pair[0], message: pair[1]}
	return nil
}

// outcome translates the answer, dependencies aside. A request that took too long is
// an AbortError, and in the npm release, which asks with node-fetch, a message.
func (a answer) outcome(k kind) outcome {
	switch {
	case a.held && k == check:
		return yes
	case a.held:
		return pass
	case a.name == "Setup" && a.message == "retry":
		return retry
	case a.name == "Setup":
		return setup
	case a.name == "AbortError" || strings.HasPrefix(a.message, "network timeout at"):
		return harness
	case k == required:
		return fail
	case k == optimal:
		return suboptimal
	default:
		return no
	}
}
