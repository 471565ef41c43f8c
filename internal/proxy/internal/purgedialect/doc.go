// Package purgedialect reads the purges that content management systems send to caches.
//
// It answers one question: what of its host does this request purge? There is no standard. Programs write for the Varnish
// configuration that they publish, where a purge is often a regular expression. This package runs none: it takes those apart
// that stand for a text, the beginning of one, or a choice of these (pattern.go), and refuses all others. What a request says
// is either understood in full or refused with an Error that names the part that is not. So nobody is told that a purge was done
// which was not. Where programs mean different things by the same request, the wider meaning is taken if it includes the
// others, and else the request is refused; docs/operating/purges.md lists them.
//
// The package parses no URL: the caller does, and refuses what is none. It purges nothing.
package purgedialect
