package basicauth

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// Bounds of a file.
const (
	// MaxFileBytes is the longest file.
	MaxFileBytes = 1 << 20

	// Costs of bcrypt: a weaker one is soon guessed, and a check of a stronger one takes seconds.
	leastCost = 5
	mostCost  = 14

	mostUserBytes = 255
	hashBytes     = 60

	// mostPasswordBytes is how much of a password bcrypt reads. Two that differ behind that have the same hash.
	mostPasswordBytes = 72
)

// Users are the users of one file. They are immutable.
type Users struct {
	lines map[string]string // lines under their names
	decoy string            // the dearest hash: what it takes to find a name unknown
}

// LineError says what is wrong with one line of a file, and nothing of what is in it.
type LineError struct {
	Line int // from 1 on; 0 is all of the file
	Want string
}

func (e *LineError) Error() string {
	if e.Line == 0 {
		return "must be " + e.Want
	}
	return fmt.Sprintf("line %d: must be %s", e.Line, e.Want)
}

// Parse reads the lines USER:HASH of a file. Lines that are empty or begin with # are passed over. The
// error joins a *LineError for all that is wrong.
func Parse(data []byte) (*Users, error) {
	if len(data) > MaxFileBytes {
		return nil, &LineError{Want: fmt.Sprintf("at most %d bytes", MaxFileBytes)}
	}
	u := &Users{lines: map[string]string{}}
	var problems []error
	dearest, number := 0, 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		cost, want := u.add(text)
		if want != "" {
			problems = append(problems, &LineError{number, want})
		} else if cost > dearest {
			dearest, u.decoy = cost, text[len(text)-hashBytes:]
		}
	}
	if len(u.lines) == 0 && len(problems) == 0 {
		problems = append(problems, &LineError{Want: "at least one line USER:HASH, as htpasswd -B writes it"})
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return u, nil
}

// add takes one line, and returns the cost of its hash, or what is wanted in place of the line.
func (u *Users) add(line string) (cost int, want string) {
	user, hash, _ := strings.Cut(line, ":")
	if want = wantUser(user); want != "" {
		return 0, want
	}
	if cost, want = costOf(hash); want != "" {
		return 0, want
	}
	if u.lines[user] != "" {
		return 0, "a name that no line above has"
	}
	u.lines[user] = line
	return cost, ""
}

// wantUser says what is wanted in place of a name, "" if nothing (RFC 7617 section 2).
func wantUser(user string) string {
	if user == "" || len(user) > mostUserBytes || strings.ContainsFunc(user, control) {
		return fmt.Sprintf("USER:HASH, with a name of 1 to %d bytes and no control characters", mostUserBytes)
	}
	return ""
}

// costOf returns the cost of a hash, or what is wanted in its place.
func costOf(hash string) (cost int, want string) {
	kind := ""
	switch {
	case strings.HasPrefix(hash, "$apr1$"), strings.HasPrefix(hash, "$1$"):
		kind = "MD5"
	case strings.HasPrefix(hash, "{SHA}"), strings.HasPrefix(hash, "{SSHA}"):
		kind = "SHA-1"
	case strings.HasPrefix(hash, "$5$"), strings.HasPrefix(hash, "$6$"):
		kind = "SHA-2"
	case !strings.HasPrefix(hash, "$2"):
		kind = "crypt or plain text"
	}
	if kind != "" {
		return 0, "a bcrypt hash, as htpasswd -B writes it, not " + kind
	}
	cost, err := bcrypt.Cost([]byte(hash))
	switch {
	case err != nil, len(hash) != hashBytes, !strings.Contains("aby", hash[2:3]), hash[3] != '$':
		return 0, fmt.Sprintf("a complete bcrypt hash of %d bytes that begins with $2a$, $2b$ or $2y$", hashBytes)
	case cost < leastCost, cost > mostCost:
		return 0, fmt.Sprintf("a bcrypt hash with a cost of %d to %d, not %d", leastCost, mostCost, cost)
	}
	return cost, ""
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// has reports whether a user has this password. It takes as long for one that there is not.
func (u *Users) has(user, password string) bool {
	line, known := u.lines[user]
	hash := u.decoy
	if known {
		hash = line[len(line)-hashBytes:]
	}
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil && known
}
