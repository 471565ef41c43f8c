package basicauth

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// hashed is a hash of the least cost, as htpasswd -B writes it.
func hashed(tb testing.TB, password string) string {
	tb.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), leastCost)
	if err != nil {
		tb.Fatal(err)
	}
	return "$2y" + string(b[3:])
}

// The last hash is crypt(3)'s of libxcrypt.
func TestAFileOfHtpasswdIsRead(t *testing.T) {
	u, err := Parse([]byte("# staff\n\nann:" + hashed(t, "a:b ä") + "\r\nbob:" + hashed(t, "") + "\nc d:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW"))
	if err != nil {
		t.Fatal(err)
	}
	f := func(user, password string, want bool) {
		t.Helper()
		if got := u.has(user, password); got != want {
			t.Errorf("%s: got %v", user, got)
		}
	}
	f("ann", "a:b ä", true)
	f("ann", "a:b", false)
	f("ann", "", false)
	f("bob", "", true)
	f("Ann", "a:b ä", false)
	f("nobody", "a:b ä", false)
	f("", "", false)
	f("c d", "open sesame", true)
	f("c d", "open sesame ", false)
}

// What cannot be read names its lines, and says nothing of what is in them.
func TestFilesAreRefusedByTheirLines(t *testing.T) {
	good := hashed(t, "x")
	f := func(text string, want ...string) {
		t.Helper()
		_, err := Parse([]byte(text))
		if err == nil || err.Error() != strings.Join(want, "\n") {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
	const bcryptNot = "must be a bcrypt hash, as htpasswd -B writes it, not "
	f("a:$apr1$x$y\nb:"+good+"\nc:{SHA}x\nd:secret\ne:$6$x$y\nf", "line 1: "+bcryptNot+"MD5", "line 3: "+bcryptNot+"SHA-1", "line 4: "+bcryptNot+"crypt or plain text",
		"line 5: "+bcryptNot+"SHA-2", "line 6: "+bcryptNot+"crypt or plain text")
	f("a:"+good+"\na:"+good, "line 2: must be a name that no line above has")
	f(":"+good, "line 1: must be USER:HASH, with a name of 1 to 255 bytes and no control characters")
	f("a\tb:"+good, "line 1: must be USER:HASH, with a name of 1 to 255 bytes and no control characters")
	const whole = "line 1: must be a complete bcrypt hash of 60 bytes that begins with $2a$, $2b$ or $2y$"
	f("a:"+good[:59], whole)
	f("a:"+good+" ", whole)
	f("a:"+good+":x", whole)
	f("a:$2x"+good[3:], whole)
	f("a:$2"+good[3:], whole)
	f("a:$2y$xx"+good[6:], whole)
	f("a:$2y$04"+good[6:], "line 1: must be a bcrypt hash with a cost of 5 to 14, not 4")
	f("a:$2y$31"+good[6:], "line 1: must be a bcrypt hash with a cost of 5 to 14, not 31")
	f("", "must be at least one line USER:HASH, as htpasswd -B writes it")
	f("# a:b\n", "must be at least one line USER:HASH, as htpasswd -B writes it")
	f(strings.Repeat("#", MaxFileBytes+1), "must be at most 1048576 bytes")
	_, err := Parse([]byte("a:b\nc:d"))
	if one, ok := errors.AsType[*LineError](err); !ok || one.Line != 1 {
		t.Errorf("got %v, want errors of lines", err)
	}
}

// An unknown name costs as much as the dearest one that there is: else names could be found out.
func TestAnUnknownNameIsCheckedToo(t *testing.T) {
	b, err := bcrypt.GenerateFromPassword([]byte("x"), leastCost+1)
	if err != nil {
		t.Fatal(err)
	}
	u, err := Parse([]byte("a:" + hashed(t, "y") + "\nb:" + string(b) + "\nc:" + hashed(t, "z")))
	if err != nil || u.decoy != string(b) {
		t.Errorf("got %v, decoy %q", err, u.decoy)
	}
	if u.has("nobody", "x") {
		t.Error("the password of another user is that of an unknown one")
	}
}

func TestTokensAreRead(t *testing.T) {
	f := func(authorization, user, password string, want bool) {
		t.Helper()
		token := tokenOf([]byte(authorization))
		u, p, ok := parts(token)
		if ok = ok && token != nil; ok != want || ok && (u != user || p != password) {
			t.Errorf("%q: got %q %q %v", authorization, u, p, ok)
		}
	}
	f("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame", true) // RFC 7617 section 2
	f("basic  dGVzdDoxMjPCow== ", "test", "123£", true)
	f("BASIC YTpiOmM=", "a", "b:c", true)
	f("Basic YTo=", "a", "", true)
	f("Basic OmI=", "", "", false)     // no name
	f("Basic YWI=", "", "", false)     // no colon
	f("Basic YTpiAA==", "", "", false) // NUL
	f("Basic YQA6Yg==", "", "", false) // NUL
	f("Basic QWxhZGRpbjpv ", "Aladdin", "o", true)
	f("Basic YTpi=", "", "", false)
	f(string(basic("a", strings.Repeat("ä", 36))), "a", strings.Repeat("ä", 36), true)
	f(string(basic("a", strings.Repeat("ä", 36)+"b")), "", "", false) // longer than bcrypt reads
	f("Basic", "", "", false)
	f("Basic ", "", "", false)
	f("Bearer YTpi", "", "", false)
	f("Basic "+strings.Repeat("YWFh", 300), "", "", false)
}

func TestAppendName(t *testing.T) {
	f := func(authorization, want string) {
		t.Helper()
		if got := string(AppendName([]byte("x"), []byte(authorization))); got != "x"+want {
			t.Errorf("%q: got %q, want x%s", authorization, got, want)
		}
	}
	f("Basic YW5uOng=", "ann")
	f("bASIC  YW5uOng= ", "ann")
	f("Basic OmE=", "")
	f("Basic YW5u", "") // without a colon
	f("Basic !", "")
	f("Bearer YW5uOng=", "")
	f("", "")
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 700) + ":"))
	f("Basic "+long, strings.Repeat("a", 700))
	f("Basic "+long+long, "")
	room, value := make([]byte, 0, 64), []byte("Basic YW5uOng=")
	if n := testing.AllocsPerRun(100, func() { room = AppendName(room[:0], value) }); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
