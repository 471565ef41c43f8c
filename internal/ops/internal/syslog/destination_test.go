package syslog

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	f := func(text string, want Destination) {
		t.Helper()
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	udp := func(address string) Destination {
		return Destination{Network: "udp", Address: address, Facility: 23, Severity: 6, Tag: "edgeproxy"}
	}
	f("syslog:server=10.0.0.5", udp("10.0.0.5:514"))
	f("syslog:server=10.0.0.5:1514", udp("10.0.0.5:1514"))
	f("syslog:server=udp://logs.example.com", udp("logs.example.com:514"))
	f("syslog:server=[2001:db8::1]", udp("[2001:db8::1]:514"))
	f("syslog:server=[2001:db8::1]:99", udp("[2001:db8::1]:99"))
	f("syslog:server=tcp://logs_1:601,facility=daemon,severity=debug,tag=edge-1,nohostname",
		Destination{Network: "tcp", Address: "logs_1:601", Facility: 3, Severity: 7, Tag: "edge-1", WithoutHostname: true})
	f("syslog:tag=a,server=unix:/dev/log,severity=emerg,facility=kern", Destination{Network: "unixgram", Address: "/dev/log", Tag: "a"})
}

func TestParseSaysWhatIsWanted(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want an error with %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/var/log/x", "syslog", "syslog:", "Syslog:server=a"} {
		f(text, "must be syslog:server=ADDRESS, such as ")
	}
	f("syslog:tag=a", "must be server=HOST, HOST:PORT, tcp://HOST:PORT or unix:/PATH")
	for _, server := range []string{"", ":514", "a:0", "a:x", "a:65536", "a b", "[::1", "::1", "[1.2.3.4]", "ftp://a", "tcp://", "a/b", "tcp://a:"} {
		f("syslog:server="+server, `server "`+server+`": must be server=HOST`)
	}
	f("syslog:server=unix:log", "which begins with /")
	f("syslog:server=unix:/"+strings.Repeat("x", 107), "at most 107 bytes")
	f("syslog:server=a,facility=local8", `facility "local8": must be one of kern, user,`)
	f("syslog:server=a,severity=information", `severity "information": must be one of emerg, alert, crit, error, warn, notice, info, debug`)
	f("syslog:server=a,tag=", `tag "": must be 1 to 48 letters`)
	f("syslog:server=a,tag=a b", `tag "a b": must be 1 to 48 letters`)
	f("syslog:server=a,tag="+strings.Repeat("x", 49), "must be 1 to 48")
	f("syslog:server=a,nohostname=1", "must be nohostname without a value")
	f("syslog:server=a,level=info", `parameter "level": must be server, facility, severity, tag or nohostname`)
	f("syslog:server=a,", `parameter "": must be server`)
	f("syslog:server=a,server=b", "server must be listed once")
}
