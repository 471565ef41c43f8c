// Package http1 is the front for HTTP/1.0 and HTTP/1.1, by fasthttp.
//
// It answers one question: what does this request ask in the words of internal/message, and
// which bytes are its answer? It reads a request, checks its framing (internal/wire), asks the
// engine, and sends the answer. It alone knows chunks, connections that end with an answer,
// 100 (Continue), and what fasthttp does with all of that. It decides nothing about caching.
//
// A request and its answer are a turn. It is read in request.go and body.go; its answer gets its
// head in head.go, and is sent in send.go. A connection (conn.go) keeps the deadlines of its reads,
// and sends an answer that is in memory by itself. Interim responses (interim.go) and
// connections that are handed over (handover.go) go past fasthttp.
package http1
