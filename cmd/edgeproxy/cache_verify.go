package main

// cacheLine is one line of the answer to POST /cache/verify: a damaged record, or the final counts.
type cacheLine struct {
	Damage   *cacheDamage   `json:"damage,omitempty"`
	Verified *cacheVerified `json:"verified,omitempty"`
}

// cacheDamage is a damaged record.
type cacheDamage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Error  string `json:"error"`
}

// cacheVerified counts what verify has read.
type cacheVerified struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	Damaged int64 `json:"damaged"`
}

// note counts one record. If why is not nil the record is damaged, and note calls show.
func (v *cacheVerified) note(d cacheDamage, why error, show func(cacheDamage) error) error {
	v.Records++
	v.Bytes += d.Bytes
	if why == nil {
		return nil
	}
	v.Damaged++
	d.Error = why.Error()
	return show(d)
}
