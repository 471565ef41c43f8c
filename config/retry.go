package config

import (
	"errors"
	"strconv"

	"edgeproxy/internal/origin"
)

func retryTable(r *origin.Retry) table {
	return table{
		live("statuses", list(&r.Statuses, nil, "statuses", "must be a list, such as [502, 503, 504]", retryStatus),
			"A response with such a status is not used if another server can be asked. Only for safe methods, such as GET.").withExample("[502, 503, 504]"),
		live("budget", ratio(&r.Budget, 0.2).between(0, 1).withError("must be 0.0 for none, to 1.0"),
			"The share of the requests of the last ten seconds that may be sent once more; above 0.0, 20 may be in any case."),
	}
}

func retryStatus(field *int) *scalar[int] {
	const want = "must be a status of 500 to 599"
	return parsed(field, 0, "status", want, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 500 || n > 599 {
			return 0, errors.New(want)
		}
		return n, nil
	}, strconv.Itoa)
}
