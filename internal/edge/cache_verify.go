package edge

// VerifyLine is one line of the answer to POST /cache/verify: a damaged record, or the final counts.
type VerifyLine struct {
	Damage   *Damage   `json:"damage,omitempty"`
	Verified *Verified `json:"verified,omitempty"`
}

// Damage is a damaged record of the disk tier: Bytes from Offset of a file.
type Damage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Error  string `json:"error"`
}

// Verified counts what a verification has read. It is not safe for concurrent use.
type Verified struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	Damaged int64 `json:"damaged"`
}

// Note counts one record. If why is not nil the record is damaged, and Note calls show and returns its error.
func (v *Verified) Note(d Damage, why error, show func(Damage) error) error {
	v.Records++
	v.Bytes += d.Bytes
	if why == nil {
		return nil
	}
	v.Damaged++
	d.Error = why.Error()
	return show(d)
}
