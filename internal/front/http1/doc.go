// Package http1 is the front for HTTP/1.0 and HTTP/1.1. What is plain it reads by itself, the rest
// by fasthttp.
//
// It answers one question: what does this request ask in the words of internal/http/message, and what are
// the bytes of its answer? It reads a request, checks its framing (internal/http/wire, internal/http/chunked), asks the
// engine, and sends the answer. It alone knows chunks, connections that end with an answer,
// 100 (Continue), and what fasthttp does with all of that. It decides nothing about caching.
//
// A connection (conn.go) is accepted and counted in accept.go. It is closed by shutdown.go, or after an
// answer by linger.go. Its loop (loop.go) reads plain requests (plain.go), with their content (upload.go, trailers.go), and sends
// their answers (answer.go).
// The first request that is not plain, and all that follow it, are left to fasthttp: they are read in
// request.go and body.go, and answered by send.go. A request and its answer are a turn (turn.go), and the head of an
// answer is made in head.go, both ways. A connection keeps the deadlines of its reads. Interim
// responses (interim.go) and connections that are handed over (handover.go) go past fasthttp.
package http1
