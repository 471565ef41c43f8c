// Package routing finds the route of a request.
//
// It answers one question: which route does this request take? A Match is what a route wants of
// its requests. All that it names has to hold, and the first route of which that is so gets the
// request; whoever has the routes walks them in their order. HEAD counts as GET, whose answer it
// asks about.
//
// The package is pure. It reads no request: it is given the scheme, the host, the path, the
// query and the method, and asks for a field by Fields. It keeps nothing that it is given, and
// allocates nothing but room for what is decoded, which its caller keeps. A Match does not change once it is in use, and is safe for concurrent use then.
package routing
