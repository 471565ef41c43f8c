package edge

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/front/acme"
	"edgeproxy/internal/front/certs"
)

// certificates are what clients of TLS are shown: from files, which a reload replaces (live), and by ACME.
type certificates struct {
	*core
	acme *acme.Manager // nil: no certificates by ACME
}

// buildCertificates returns the store of c's certificate files. It is the store of before if the files are the same.
func (cs *certificates) buildCertificates(c *config.Config, before *live) (*certs.Store, error) {
	switch {
	case !slices.ContainsFunc(cs.config.Listen, func(l config.Listen) bool { return l.TLS }):
		return nil, nil //nolint:nilnil // no listener has TLS
	case len(c.TLS.Certificates) == 0 && len(cs.config.TLS.ACME.Names) == 0:
		return nil, config.Errors{c.Fault("tls.certificates", "needs one at least: tls.acme begins with a restart, and listeners have tls: true")}
	case len(c.TLS.Certificates) == 0:
		return nil, cs.checkOrderedNames(c, before, nil) // all certificates come from ACME
	case before.certs != nil && slices.Equal(c.TLS.Certificates, before.config.TLS.Certificates):
		return before.certs, nil
	}
	s, err := certs.New(certificatePairs(c), cs.log, time.Now, cs.panics.Quietly)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	if err := cs.checkOrderedNames(c, before, s); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// checkOrderedNames refuses files that lack a certificate for a name of tls.acme for which none is
// ordered, because a file had it at the start.
func (cs *certificates) checkOrderedNames(c *config.Config, before *live, files *certs.Store) error {
	if before.config == nil {
		return nil // the start
	}
	for _, name := range cs.config.TLS.ACME.Names {
		managed := cs.acme != nil && cs.acme.Manages(name)
		if !managed && (files == nil || files.Find(name) == nil) {
			return config.Errors{c.Fault("tls.certificates", "needs a certificate for "+name+", or a restart: a file had it at the start, and so tls.acme orders none for it")}
		}
	}
	return nil
}

// fileCertificates returns the certificates of files, nil for none.
func (cs *certificates) fileCertificates() *certs.Store { return cs.now.Load().certs }

// buildACME builds the ACME manager, which loads the stored certificates, and registers the certificate metrics.
func (cs *certificates) buildACME() (err error) {
	if names := cs.acmeNames(); len(names) > 0 {
		if cs.acme, err = acme.New(cs.acmeOptions(names)); err != nil {
			return config.Errors{cs.config.Fault("tls.acme.storage", wantStorage+err.Error())}
		}
	}
	cs.registerCertificateMetrics()
	return nil
}

const wantStorage = "must be a folder that can be written to: "

// stopOrdering cancels ACME orders in progress. Existing certificates stay in use.
func (cs *certificates) stopOrdering() {
	if cs.acme != nil {
		cs.acme.Close()
	}
}

// acmeNames returns the names that no file has a certificate for.
func (cs *certificates) acmeNames() (names []string) {
	for _, name := range cs.config.TLS.ACME.Names {
		if files := cs.fileCertificates(); files != nil && files.Find(name) != nil {
			cs.log.Warn("no certificate is ordered for a name that tls.certificates has one for", "name", name)
			continue
		}
		names = append(names, name)
	}
	return names
}

func (cs *certificates) acmeOptions(names []string) acme.Options {
	a := &cs.config.TLS.ACME
	roots, _ := acmeRoots(a) // acmeFaults has checked it
	return acme.Options{
		Names: names, Directory: a.Directory, Email: a.Email, Roots: roots, Storage: a.Storage,
		TLSALPN: cs.config.Solves(config.TLSALPN01), HTTP: cs.config.Solves(config.HTTP01),
		UserAgent: "edgeproxy/" + cs.version, Log: cs.log, Now: time.Now, Guard: cs.panics.Quietly,
	}
}

// acmeRoots reads tls.acme.ca; nil: the system's roots.
func acmeRoots(a *config.ACME) (*x509.CertPool, error) {
	if a.CA == "" {
		return nil, nil
	}
	data, err := readRegular(a.CA)
	if err != nil {
		return nil, fmt.Errorf("must be a file in PEM: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, errors.New("must be a file with certificates in PEM: there is none in it")
	}
	return roots, nil
}

// acmeFaults checks the files that tls.acme names. running is the configuration in force, nil at a start; its storage folder
// exists already.
func acmeFaults(c, running *config.Config) (faults config.Errors) {
	a := &c.TLS.ACME
	if len(a.Names) == 0 {
		return nil
	}
	if _, err := acmeRoots(a); err != nil {
		faults = append(faults, c.Fault("tls.acme.ca", err.Error()))
	}
	err := acme.CheckStorage(a.Storage)
	if err == nil && (running == nil || running.TLS.ACME.Storage != a.Storage) {
		err = checkCreatable(a.Storage)
	}
	if err != nil {
		faults = append(faults, c.Fault("tls.acme.storage", wantStorage+err.Error()))
	}
	return faults
}

// tlsConfig returns the TLS configuration for clients.
func (cs *certificates) tlsConfig() *tls.Config {
	c := &tls.Config{GetCertificate: cs.certificate, MinVersion: uint16(cs.config.TLS.MinVersion)}
	if cs.acme != nil && cs.config.Solves(config.TLSALPN01) {
		c.GetConfigForClient = cs.challengeConfig
	}
	return c
}

// certificate is a tls.Config's GetCertificate. A certificate of a file goes before one of ACME.
// A name whose ACME certificate is still missing gets none, which ends the handshake with
// unrecognized_name. Any other name, or none, gets the first certificate of all.
func (cs *certificates) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := certs.Name(hello)
	files := cs.fileCertificates()
	if files != nil {
		if c := files.Find(name); c != nil {
			return c, nil
		}
	}
	if cs.acme != nil && cs.acme.Manages(name) {
		return cs.acme.Certificate(name), nil
	}
	if files != nil {
		return files.First(), nil
	}
	return cs.acme.First(), nil
}

// challengeConfig is a tls.Config's GetConfigForClient. It answers the handshake by which a
// certificate authority validates a name (tls-alpn-01, RFC 8737). It returns nil for all others.
func (cs *certificates) challengeConfig(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	c := cs.acme.Challenge(hello)
	if c == nil {
		return nil, nil
	}
	return &tls.Config{
		Certificates: []tls.Certificate{*c}, NextProtos: []string{acme.Protocol}, MinVersion: tls.VersionTLS12,
	}, nil
}

// challenge returns proxy.Options.Challenge (http-01), nil if it is not in use.
func (cs *certificates) challenge() func(token []byte) string {
	if cs.acme == nil || !cs.config.Solves(config.HTTP01) {
		return nil
	}
	return cs.acme.Answer
}

// registerCertificateMetrics registers the metrics of expiry and of ACME.
func (cs *certificates) registerCertificateMetrics() {
	if cs.fileCertificates() != nil || cs.acme != nil {
		cs.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_certificate_expiry_timestamp_seconds", Help: "When the first of the certificates that clients are shown expires; 0 while there is none.",
		}, func() float64 { return float64(cs.expiry()) }))
	}
	if cs.acme != nil {
		cs.registry.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "edgeproxy_acme_missing_certificates", Help: "Names of tls.acme without a certificate, for which handshakes fail.",
			}, func() float64 { return float64(cs.acme.Missing()) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name: "edgeproxy_acme_failures_total", Help: "Tries to get or renew a certificate by ACME that failed.",
			}, func() float64 { return float64(cs.acme.Failures()) }),
		)
	}
}

// expiry returns the earliest expiry of all certificates as Unix time in seconds; 0: there is none.
func (cs *certificates) expiry() int64 {
	var ends []int64
	if files := cs.fileCertificates(); files != nil {
		ends = append(ends, files.Expiry().Unix())
	}
	if cs.acme != nil {
		if end := cs.acme.Expiry(); !end.IsZero() {
			ends = append(ends, end.Unix())
		}
	}
	if len(ends) == 0 {
		return 0
	}
	return slices.Min(ends)
}

func certificatePairs(c *config.Config) []certs.Pair {
	out := make([]certs.Pair, len(c.TLS.Certificates))
	for i, f := range c.TLS.Certificates {
		out[i] = certs.Pair{Certificate: f.Certificate, Key: f.Key}
	}
	return out
}

// certificateWarnings warns of file certificates that are not valid at now, and of keys that everybody can read.
func certificateWarnings(c *config.Config, now time.Time) (out []config.Warning) {
	for i, p := range certificatePairs(c) {
		at := fmt.Sprintf("tls.certificates[%d].", i)
		if info, err := os.Stat(p.Key); err == nil && info.Mode().Perm()&0o004 != 0 {
			out = append(out, c.Warn(at+"key", "everybody on this machine can read the key: must have mode 0600 or 0640"))
		}
		all, err := certs.Load([]certs.Pair{p})
		if err != nil {
			continue // certificateFaults reports it
		}
		switch leaf := all[0].Leaf; {
		case now.After(leaf.NotAfter):
			out = append(out, c.Warn(at+"certificate", "it expired at "+leaf.NotAfter.UTC().Format(time.RFC3339)+": clients refuse it"))
		case now.Before(leaf.NotBefore):
			out = append(out, c.Warn(at+"certificate", "it is valid from "+leaf.NotBefore.UTC().Format(time.RFC3339)+": clients refuse it until then"))
		}
	}
	return out
}

// certificateFaults checks the files of tls.certificates.
func certificateFaults(c *config.Config) (faults config.Errors) {
	_, err := certs.Load(certificatePairs(c))
	for _, p := range config.Joined[*certs.PairError](err) {
		setting := "certificate"
		if p.Key {
			setting = "key"
		}
		faults = append(faults, c.Fault(certificateAt(p.Index)+setting, p.Error()))
	}
	return faults
}

func certificateAt(i int) string { return "tls.certificates[" + strconv.Itoa(i) + "]." }
