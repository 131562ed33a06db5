// Package query selects objects for lists: filter, sort order, page.
//
// It owns the sort keys and the cursor, which the API and the dashboard share.
// It never formats anything. Start reading at Select.
package query
