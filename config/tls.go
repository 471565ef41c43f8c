package config

// TLS is the settings of listeners with TLS.
type TLS struct {
	Certificates []Certificate // the first is for clients that send no server name, or an unknown one
	ACME         ACME          // if a listener has TLS, there are Certificates or ACME names
	MinVersion   TLSVersion
}

// Certificate names the files of one certificate.
type Certificate struct {
	Certificate, Key string // PEM; the chain, leaf first
}

func (t *TLS) table() table {
	return table{
		live("certificates", &items[Certificate]{
			field: &t.Certificates, want: "must be a list, such as [{certificate: cert.pem, key: key.pem}]", tableOf: (*Certificate).table, oneLine: true, kindText: "list of certificates",
		}, "The first is used for names that no certificate has. Files are read again when they change.").withExample("[{certificate: chain.pem, key: key.pem}]"),
		restart("min_version", tlsVersion(&t.MinVersion), "The lowest version of TLS."),
		section("acme", t.ACME.table, "Further certificates, ordered and renewed by ACME (RFC 8555).").asOptional(),
	}
}

func tlsVersion(field *TLSVersion) *scalar[TLSVersion] { return enum(field, TLS12, TLS12, TLS13) }

func (c *Certificate) table() table {
	return table{
		live("certificate", textual(&c.Certificate, ""), "A PEM file with the chain, leaf first.").asRequired(),
		live("key", textual(&c.Key, ""), "A PEM file with its key.").asRequired(),
	}
}

// tls checks that listeners with TLS have certificates, and that TLS settings have a listener
// that uses them. It does not read the files: internal/edge does.
func (v *validator) tls() {
	secure := v.secureListeners()
	for i, c := range v.c.TLS.Certificates {
		at := item("tls.certificates", i)
		for key, path := range map[string]string{"certificate": c.Certificate, "key": c.Key} {
			if at := child(at, key); path == "" && v.noErrorAt(at) {
				v.fail(at, missing("a file in PEM"))
			}
		}
	}
	if !secure {
		v.unusedTLSKeys()
	}
	v.acme(secure)
}

// unusedTLSKeys refuses settings of TLS if no listener speaks it. The default of min_version may
// be written.
func (v *validator) unusedTLSKeys() {
	want := "remove it: " + v.noTLS()
	if len(v.c.TLS.Certificates) > 0 && v.noErrorAt("tls.certificates", "listen") {
		v.addError("tls.certificates", "", want)
	}
	if v.c.TLS.MinVersion != TLS12 && v.noErrorAt("tls.min_version", "listen") {
		v.fail("tls.min_version", want)
	}
}

// noTLS says why no listener has TLS.
func (v *validator) noTLS() string {
	if at, _ := v.src.places.at("listen[0].address"); at.flag != "" {
		return flagListen + " replaces all of listen, and has no TLS"
	}
	return "no listener has tls: true"
}

// secureListeners checks that listeners with TLS have a certificate, and reports whether there
// are such listeners.
func (v *validator) secureListeners() (secure bool) {
	for i, l := range v.c.Listen {
		if !l.TLS {
			continue
		}
		secure = true
		at := child(item("listen", i), "tls")
		if len(v.c.TLS.Certificates) == 0 && !v.src.given("tls.acme") && v.noErrorAt(at, "tls", "tls.certificates") {
			v.fail(at, "needs tls.certificates with at least one certificate, or tls.acme: a listener with TLS needs one")
		}
	}
	return secure
}
