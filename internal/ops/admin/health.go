package admin

import "net/http"

// live answers /livez: if the process can answer at all, it is alive.
func live(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, "ok")
}

func readyHandler(ready func() (bool, string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ok, reason := ready()
		switch {
		case ok && reason != "":
			writeText(w, http.StatusOK, "ready; "+reason)
		case ok:
			writeText(w, http.StatusOK, "ready")
		case reason == "":
			writeText(w, http.StatusServiceUnavailable, "not ready")
		default:
			writeText(w, http.StatusServiceUnavailable, reason)
		}
	})
}
