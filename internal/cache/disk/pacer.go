package disk

import "time"

// pacer bounds the rate of background reads, such as those of a sweep. One goroutine uses it.
type pacer struct {
	v         *volume
	perSecond int64 // bytes; 0: no bound
	began     time.Time
	bytes     int64
}

// pacedAt is how far ahead of its rate a pacer may be before it waits.
const pacedAt = 10 * time.Millisecond

// wait waits until n more bytes may be read. The error is ErrOff if the volume has ended.
func (p *pacer) wait(n int64) error {
	if p.perSecond == 0 {
		return nil
	}
	p.bytes += n
	ahead := time.Duration(float64(p.bytes)/float64(p.perSecond)*float64(time.Second)) - p.v.o.Now().Sub(p.began)
	if ahead < pacedAt {
		return nil
	}
	if !p.v.sleep(ahead) {
		return ErrOff
	}
	return nil
}
