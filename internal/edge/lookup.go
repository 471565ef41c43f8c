package edge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy"
)

// Lookup is the document of GET /lookup.
type Lookup struct {
	Method string `json:"method"`
	URL    string `json:"url"` // the URL that was asked for
	Route  string `json:"route,omitempty"`
	Policy string `json:"policy,omitempty"`
	Origin string `json:"origin,omitempty"` // the origin that the route asks

	Key       *LookupKey       `json:"key,omitempty"`
	Sightings *LookupSightings `json:"sightings,omitempty"`
	Stored    *LookupStored    `json:"stored"`
	// Variants are all that are stored of the URL, if it varies, whichever this request would get.
	Variants []LookupVariant `json:"variants,omitempty"`
	Next     LookupNext      `json:"next"`
}

// LookupVariant is a stored response that request fields select.
type LookupVariant struct {
	Variant string `json:"variant"` // the fields and what they are
	LookupStored
}

// LookupKey is the cache key, and the key by which sightings are counted.
type LookupKey struct {
	URL     string   `json:"url"`
	Part    string   `json:"part,omitempty"`    // the slice, of a large object
	Vary    []string `json:"vary,omitempty"`    // the request fields that select a response
	Variant string   `json:"variant,omitempty"` // and what they are in this request
	Hash    string   `json:"hash"`              // 128 bits
	Counted string   `json:"counted_by"`        // the hash by which sightings are counted
}

// LookupSightings is how often the key was seen within the window.
type LookupSightings struct {
	Within int  `json:"within_window"` // 0 or 1 if the filter does not count; 1 then stands for one or more
	Exact  bool `json:"counted"`       // the filter counts
}

// LookupStored is the response that is stored.
type LookupStored struct {
	Tier   string  `json:"tier"`
	Status int     `json:"status"`
	Bytes  int64   `json:"bytes"` // the length of the body
	Age    float64 `json:"age_seconds"`
	TTL    float64 `json:"ttl_seconds"` // negative: it is stale
	Tags   int     `json:"tags"`        // how many; they are kept as hashes
	// TagNames are those of them that are known: a group of Cache-Groups is two tags with one name.
	TagNames []string `json:"tag_names,omitempty"`
	Purged   string   `json:"purged"` // no, soft or yes
}

// LookupNext is what would happen to the next request.
type LookupNext struct {
	Result string `json:"result"` // hit, stale, validate, miss, pass, answered or refused
	// Admitted says whether admission would let the response be stored. It is false if no response would be fetched.
	Admitted bool   `json:"admitted"`
	Reason   string `json:"reason,omitempty"` // a name of package reason
	Text     string `json:"text"`
}

// lookup answers GET /lookup. It changes nothing.
func (e *Edge) lookup(method, url string, fields [][2]string) (any, error) {
	q := proxy.Question{Method: method, URL: url}
	for _, f := range fields {
		q.Fields = append(q.Fields, field.Field{Name: f[0], Value: f[1]})
	}
	in, release, err := e.proxy.Inspect(q)
	if err != nil {
		return nil, err
	}
	defer release()
	a := Lookup{Method: method, URL: url, Route: in.Route, Policy: in.Policy, Origin: in.Origin}
	if in.Itself {
		a.Next = LookupNext{Result: "answered", Text: "The route answers itself, without cache and origin."}
		return a, nil
	}
	if in.Why != reason.None {
		a.Next = LookupNext{Result: "pass", Reason: in.Why.String(), Text: "The cache is not asked: " + in.Why.String() + ". The request goes to the origin, and its response is not stored."}
		if in.Why == reason.NoRoute {
			a.Next = LookupNext{Result: "refused", Reason: in.Why.String(), Text: "No route takes the request. It is answered with 404."}
		}
		return a, nil
	}
	key := &LookupKey{Vary: in.Vary, Hash: hashText(in.Key), Counted: hashText(in.Counted)}
	key.URL, key.Part = urlOf(in.URLName)
	if len(in.Vary) > 0 {
		key.Variant = variantText(in.Name[len(in.URLName):])
	}
	a.Key = key
	if in.Remembers {
		a.Sightings = &LookupSightings{Within: in.Sightings, Exact: in.Verdict.Needed > 0}
	}
	at := time.Now()
	if in.Object != nil {
		stored := storedOf(proxy.Variant{Object: in.Object, In: in.In, Purged: in.Purged}, at)
		stored.TagNames = in.TagNames
		a.Stored = &stored
	}
	for _, v := range in.Variants {
		a.Variants = append(a.Variants, LookupVariant{variantText(v.Object.Name()[len(v.Object.URLName()):]), storedOf(v, at)})
	}
	slices.SortFunc(a.Variants, func(a, b LookupVariant) int { return cmp.Compare(a.Variant, b.Variant) })
	a.Next = nextOf(in)
	return a, nil
}

func hashText(k cache.Key) string { return fmt.Sprintf("%016x%016x", k.Hi, k.Lo) }

func storedOf(v proxy.Variant, now time.Time) LookupStored {
	o := v.Object
	age := o.Age(now)
	return LookupStored{
		Tier: v.In.String(), Status: o.Status(), Bytes: o.Content().Size(), Age: age.Seconds(), TTL: (o.Lifetime() - age).Seconds(),
		Tags: len(o.Tags()), Purged: [...]string{purge.Valid: "no", purge.Stale: "soft", purge.Gone: "yes"}[v.Purged],
	}
}

// nextOf returns what would happen to the next request, and why.
func nextOf(in proxy.Inspection) LookupNext {
	stale := in.Purged == purge.Stale || in.Use == rfc9111.UseAfterValidation
	switch {
	case in.Object == nil:
		return fetched(in, "Nothing is stored.")
	case in.Purged == purge.Gone:
		return fetched(in, "What is stored was purged, and is removed by the next request.")
	case in.Part:
		return LookupNext{Result: "hit", Text: "Its first part is stored, and answers what asks for no other. Other parts are fetched if they are not stored."}
	case !stale && in.Use == rfc9111.UseNow:
		return LookupNext{Result: "hit", Text: "It is answered from the cache."}
	case !stale:
		return LookupNext{Result: "stale", Admitted: true, Text: "It is answered from the cache, stale, and validated meanwhile."}
	case in.In == cache.InStage:
		return fetched(in, "What the stage has is stale.")
	}
	return LookupNext{Result: "validate", Admitted: true, Text: "What is stored is stale. The origin is asked whether it still holds, and what comes is stored without asking the filter."}
}

// fetched returns what would happen to a request that the origin answers. why is a sentence that begins the text.
func fetched(in proxy.Inspection, why string) LookupNext {
	n := LookupNext{Result: "miss", Admitted: in.Verdict.Admit, Reason: in.Verdict.Reason.String()}
	switch {
	case in.Verdict.Open:
		n.Text = why + " The gate is open, since the cache is nearly empty: the next response would be stored, if it may be."
	case n.Admitted:
		n.Text = why + " The next response would be stored, if it may be."
	default:
		n.Text = why + " The next response would be held back: " + n.Reason + "."
	}
	if !in.Verdict.Admit && in.Verdict.Needed > 0 {
		n.Text += fmt.Sprintf(" It would be sighting %d of %d.", in.Verdict.Sightings, in.Verdict.Needed)
	}
	return n
}
