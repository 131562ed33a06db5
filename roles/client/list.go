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
	"time"
)

// page is one page of a list of the API. Items keep their fields as they came.
type page struct {
	Items []json.RawMessage `json:"items"`
	Rules []json.RawMessage `json:"rules"` // downtimes for many, the same on every page
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
		all, err := c.pages(ctx, "/"+collection, q, limit)
		if err != nil {
			return err
		}
		if err := c.showItems(all, columns); err != nil {
			return err
		}
		if len(all.Items)+len(all.Rules) == 0 {
			return &fault{Nobody, "there are no " + collection}
		}
		return nil
	}
}

// pages asks for one page after the other until there are limit items; 0 = all.
func (c *call) pages(ctx context.Context, path string, q url.Values, limit int) (page, error) {
	all := page{Items: []json.RawMessage{}}
	for {
		a, err := c.api.ask(ctx, http.MethodGet, path+"?"+q.Encode(), nil)
		if err != nil {
			return all, err
		}
		if a.status != http.StatusOK {
			return all, c.problem(a)
		}
		var p page
		if err := json.Unmarshal(a.body, &p); err != nil {
			return all, fmt.Errorf("read the list: %w", err)
		}
		all.Items, all.Rules = append(all.Items, p.Items...), p.Rules
		if limit > 0 && len(all.Items) >= limit {
			all.Items = all.Items[:limit]
			return all, nil
		}
		// A page of what a filter rarely matches may be empty and not be the last.
		if p.Next == "" || p.Next == q.Get("cursor") {
			return all, nil
		}
		q.Set("cursor", p.Next)
	}
}

// showItems shows a list, what is for many objects or times above it.
func (c *call) showItems(all page, columns []string) error {
	if c.text("o") == "json" {
		list := map[string]any{"items": all.Items}
		if all.Rules != nil {
			list["rules"] = all.Rules
		}
		return json.NewEncoder(c.Stdout).Encode(list)
	}
	if err := c.showRules(all.Rules); err != nil {
		return err
	}
	if len(all.Rules) > 0 && len(all.Items) > 0 {
		fmt.Fprintln(c.Stdout)
	}
	t := table{head: columns}
	for _, raw := range all.Items {
		var item map[string]any
		if err := json.Unmarshal(raw, &item); err != nil {
			return fmt.Errorf("read the list: %w", err)
		}
		var cells []string
		for _, column := range columns {
			cells = append(cells, c.clock().cell(item, column))
		}
		t.add(cells...)
	}
	return t.write(c.Stdout)
}

// showRules shows the downtimes for many objects or times.
func (c *call) showRules(rules []json.RawMessage) error {
	t := table{head: []string{"RULE", "FOR", "WHEN", "NEXT START", "NEXT END", "OBJECTS", "AUTHOR", "COMMENT"}}
	for _, raw := range rules {
		var r rule
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("read the list: %w", err)
		}
		when, start, end := "once", r.Start, r.End
		if len(r.Ranges) > 0 {
			when = strings.TrimSpace("every " + strings.Join(r.Ranges, ", ") + " " + r.Timezone)
			start, end = "", ""
			if len(r.Occurrences) > 0 {
				start, end = r.Occurrences[0].Start, r.Occurrences[0].End
			}
		}
		if r.Flexible > 0 {
			when += ", flexible " + time.Duration(r.Flexible*float64(time.Second)).String()
		}
		t.add(r.ID, r.Target, when, c.clock().at(start), c.clock().at(end), strconv.Itoa(r.Objects), r.Author, r.Comment)
	}
	return t.write(c.Stdout)
}

// cell is a field of an item for people.
func (k clock) cell(item map[string]any, column string) string {
	if column == "STATE" {
		if at, _ := item["started"].(string); at != "" {
			return "running"
		}
		return "waiting"
	}
	if column == "END" {
		return k.ending(item)
	}
	switch v := item[strings.ToLower(column)].(type) {
	case string:
		return k.at(v)
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

// ending is when a downtime ends as things are: one that runs may end earlier or
// later than it was scheduled, and one may end with another.
func (k clock) ending(item map[string]any) string {
	text := func(name string) string { s, _ := item[name].(string); return s }
	length, _ := item["flexible"].(float64)
	switch {
	case text("trigger") != "" && length == 0:
		return "ends with " + text("trigger")
	case text("started") != "" && text("until") != "":
		return k.at(text("until"))
	}
	return k.at(text("end"))
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
	if c.text("o") == "json" {
		_ = json.NewEncoder(c.Stderr).Encode(failure{which + ": " + err.Error(), c.cmd.name, status(err)})
		return
	}
	fmt.Fprintf(c.Stderr, "jaque %s: %s: %s\n", c.cmd.name, which, strings.ReplaceAll(err.Error(), "\n", "; "))
}
