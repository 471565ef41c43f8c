package routing

import "testing"

func TestHostsAreRead(t *testing.T) {
	for text, want := range map[string]Host{
		"*":                   {},
		"*:80":                {Port: 80},
		"example.com":         {Name: "example.com"},
		"EXAMPLE.com.":        {Name: "example.com"},
		"example.com:8443":    {Name: "example.com", Port: 8443},
		"*.example.com":       {Name: "example.com", Subdomains: true},
		"*.example.com.:8443": {Name: "example.com", Subdomains: true, Port: 8443},
		"10.0.0.1":            {Name: "10.0.0.1"},
		"[::1]:80":            {Name: "[::1]", Port: 80},
	} {
		if got, err := ParseHost(text); err != nil || got != want {
			t.Errorf("ParseHost(%q): got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "*.", "**", "*.*", "a.*", "*a.com", "*.[::1]", "*.1.2.3.4", "::1", "[::1", "[1.2.3.4]", "[fe80::1%25eth0]", "*:", "*:0", "*:x", "a:0", "a:08", "a:-1", "a:+1"} {
		if got, err := ParseHost(text); err == nil {
			t.Errorf("ParseHost(%q): got %+v, want an error", text, got)
		}
	}
}

func TestValuesAreWrittenAsTheyAreRead(t *testing.T) {
	texts := map[string]string{"exact": "a", "end": "*a", "beginning": "a*", "middle": "*a*", "any": "*", "inner": "a*b", "none": ""}
	for _, m := range ParseValues(texts) {
		if got := m.String(); got != texts[m.Name] {
			t.Errorf("%s: got %q, want %q", m.Name, got, texts[m.Name])
		}
	}
}
