package view

import (
	"net/url"
	"strconv"
)

// pages returns the links to the pages around one of a list, whose address has the
// parameters of query; last is the number of the last page.
func pages(path string, query url.Values, page, last int) (before, after Link) {
	to := func(label string, n int) Link {
		q := url.Values{}
		for k, v := range query {
			q[k] = v
		}
		if n > 1 {
			q.Set("page", strconv.Itoa(n))
		}
		if len(q) == 0 {
			return Link{Label: label, URL: path}
		}
		return Link{Label: label, URL: path + "?" + q.Encode()}
	}
	if page > 1 {
		before = to("Previous page", page-1)
	}
	if page < last {
		after = to("Next page", page+1)
	}
	return before, after
}
