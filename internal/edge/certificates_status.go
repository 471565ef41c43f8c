package edge

import (
	"math"
	"slices"
	"time"
)

// CertificateStatus is one certificate in use, or one that tls.acme does not have yet.
type CertificateStatus struct {
	Names    []string   `json:"names"`          // the first 10 of them
	NotAfter *time.Time `json:"not_after"`      // null: there is no certificate yet, and handshakes for the name fail
	DaysLeft *int64     `json:"days_left"`      // whole days; below 0: it has expired. null: there is no certificate yet
	From     string     `json:"from"`           // file or acme
	File     string     `json:"file,omitempty"` // a file of tls.certificates
}

const (
	fromFile = "file"
	fromACME = "acme"

	// certificatesShown bounds the certificates in /status, certificateNames the names of each.
	certificatesShown = 100
	certificateNames  = 10
)

// certificatesStatus returns the certificates in use at now, and their total number. Missing ones come first, then those
// that expire first.
func (cs *certificates) certificatesStatus(now time.Time) (shown []CertificateStatus, count int) {
	if files := cs.fileCertificates(); files != nil {
		for _, c := range files.Shown() {
			shown = append(shown, certificateOf(c.Names, c.NotAfter, now, fromFile, c.File))
		}
	}
	if cs.acme != nil {
		cs.acme.Ends(func(name string, end time.Time) {
			shown = append(shown, certificateOf([]string{name}, end, now, fromACME, ""))
		})
	}
	slices.SortStableFunc(shown, func(a, b CertificateStatus) int { return a.end().Compare(b.end()) })
	count = len(shown)
	return shown[:min(count, certificatesShown)], count
}

func certificateOf(names []string, end, now time.Time, from, file string) CertificateStatus {
	c := CertificateStatus{Names: names[:min(len(names), certificateNames)], From: from, File: file}
	if !end.IsZero() {
		days := int64(math.Floor(end.Sub(now).Hours() / 24))
		c.NotAfter, c.DaysLeft = &end, &days
	}
	return c
}

func (c *CertificateStatus) end() time.Time {
	if c.NotAfter == nil {
		return time.Time{}
	}
	return *c.NotAfter
}
