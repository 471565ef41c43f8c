package edge

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"

	"edgeproxy/config"
)

// originTLS reads the files of an origin's tls section. The faults name the
// setting, and never quote a file.
func originTLS(c *config.Config, o *config.Origin) (*tls.Config, config.Errors) {
	t := &tls.Config{
		ServerName: o.TLS.ServerName, MinVersion: uint16(o.TLS.MinVersion),
		InsecureSkipVerify: o.TLS.InsecureSkipVerify, // a warning says so
	}
	f := &originFiles{config: c, section: "origins." + o.Name + ".tls."}
	if authorities := f.read("ca", o.TLS.CA); authorities != nil {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(authorities) {
			f.fault("ca", "must be a file with certificates in PEM: there is none in it")
		}
	}
	certificate, key := f.read("certificate", o.TLS.Certificate), f.read("key", o.TLS.Key)
	if certificate != nil && key != nil {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			f.fault("certificate", "must be a file in PEM whose first certificate belongs to the key: "+err.Error())
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, f.faults
}

// originFiles reads files that one section names.
type originFiles struct {
	config  *config.Config
	section string
	faults  config.Errors
}

// read returns the content of the file that a setting names. It returns nil if
// path is empty or, with a fault, if the file cannot be read.
func (f *originFiles) read(setting, path string) []byte {
	if path == "" {
		return nil
	}
	data, err := readRegular(path)
	if err == nil {
		return data
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // the setting shows the path
	}
	f.fault(setting, "must be a file in PEM: "+err.Error())
	return nil
}

func (f *originFiles) fault(setting, want string) {
	f.faults = append(f.faults, f.config.Fault(f.section+setting, want))
}

// originFaults checks the files of all origins.
func originFaults(c *config.Config) (faults config.Errors) {
	for i := range c.Origins {
		_, f := originTLS(c, &c.Origins[i])
		faults = append(faults, f...)
	}
	return faults
}
