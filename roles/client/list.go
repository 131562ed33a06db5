package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// page is one page of a list of the API. Items keep their fields as they came.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next"`
}

// listing returns what runs a command that lists a collection of the API in the
// columns.
func listing(collection string, columns ...string) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) error {
		q := url.Values{}
		switch {
		case len(c.words) > 1:
			return usagef("name one object, or several with -filter")
		case len(c.words) == 1:
			q.Set("object", c.words[0])
		}
		if c.has("filter") {
			q.Set("filter", c.text("filter"))
		}
		limit := 0
		if c.has("limit") {
			var err error
			if limit, err = strconv.Atoi(c.text("limit")); err != nil || limit < 1 {
				return usagef("-limit: %q is no number from 1", c.text("limit"))
			}
			q.Set("limit", c.text("limit"))
		}
		items, err := c.pages(ctx, "/"+collection, q, limit)
		if err != nil {
			return err
		}
		if err := c.showItems(items, columns); err != nil {
			return err
		}
		if len(items) == 0 {
			return &fault{Nobody, "there are no " + collection}
		}
		return nil
	}
}

// pages asks for one page after the other until there are limit items; 0 = all.
func (c *call) pages(ctx context.Context, path string, q url.Values, limit int) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for {
		a, err := c.api.ask(ctx, http.MethodGet, path+"?"+q.Encode(), nil)
		if err != nil {
			return nil, err
		}
		if a.status != http.StatusOK {
			return nil, c.problem(a)
		}
		var p page
		if err := json.Unmarshal(a.body, &p); err != nil {
			return nil, fmt.Errorf("read the list: %w", err)
		}
		items = append(items, p.Items...)
		if limit > 0 && len(items) >= limit {
			return items[:limit], nil
		}
		if p.Next == "" || len(p.Items) == 0 {
			return items, nil
		}
		q.Set("cursor", p.Next)
	}
}

func (c *call) showItems(items []json.RawMessage, columns []string) error {
	if c.text("o") == "json" {
		return json.NewEncoder(c.Stdout).Encode(map[string]any{"items": items})
	}
	t := table{head: columns}
	for _, raw := range items {
		var item map[string]any
		if err := json.Unmarshal(raw, &item); err != nil {
			return fmt.Errorf("read the list: %w", err)
		}
		var cells []string
		for _, column := range columns {
			cells = append(cells, cell(item, column))
		}
		t.add(cells...)
	}
	return t.write(c.Stdout)
}

// cell is a field of an item for people.
func cell(item map[string]any, column string) string {
	if column == "STATE" {
		if at, _ := item["started"].(string); at != "" {
			return "running"
		}
		return "waiting"
	}
	switch v := item[strings.ToLower(column)].(type) {
	case string:
		return utc(v)
	case nil:
		return ""
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(data)
	}
}

// status returns the exit status of an error.
func status(err error) int {
	var f *fault
	if errors.As(err, &f) {
		return f.status
	}
	return Failed
}

// complain tells what is wrong with one of several.
func (c *call) complain(which string, err error) {
	fmt.Fprintf(c.Stderr, "jaque %s: %s: %s\n", c.cmd.name, which, strings.ReplaceAll(err.Error(), "\n", "; "))
}
