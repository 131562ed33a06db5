// Package wire is the shape of everything the API says: list items, events,
// problems, the OpenAPI description.
//
// It owns names, formats and the column list of the stable API. It never
// handles a request or selects what is shown. Items are appended by hand,
// because a list of 100,000 of them has to be cheap. Start reading at Columns.
package wire
