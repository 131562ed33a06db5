package channel

import (
	"bytes"
	"encoding/json"
)

// generic returns a payload as templates see it.
func generic(p *Payload) (any, error) {
	seen := struct {
		*Payload
		First PayloadItem `json:"first"`
	}{p, PayloadItem{Labels: p.spare, Steps: []string{}, Others: []string{}}}
	if len(p.Items) > 0 {
		seen.First = p.Items[0]
	}
	text, err := json.Marshal(seen)
	if err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber() // a float64 would be written 1e+06
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	return whole(v), nil
}

// whole makes integers of numbers: the payload has no others.
func whole(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Int64()
		return n
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for k := range v {
			if k == "labels" {
				v[k] = texts(v[k])
				continue
			}
			v[k] = whole(v[k])
		}
	}
	return v
}

// texts makes labels of which a missing one is "".
func texts(v any) map[string]string {
	out := map[string]string{}
	labels, _ := v.(map[string]any)
	for name, value := range labels {
		out[name], _ = value.(string)
	}
	return out
}

// samples are payloads with everything and with as little as there can be.
func samples(labels map[string]string) []*Payload {
	since := "2026-03-01T08:00:00Z"
	one := PayloadItem{
		Object: "web1!http", Host: "web1", Service: "http", Alias: "Shop", Address: "192.0.2.10", Kind: "PROBLEM", Number: 1,
		State: "CRITICAL", StateType: "hard", Was: "OK", Output: `"quoted" & <b>`, LongOutput: "first\nsecond", Perfdata: "time=1s",
		Time: since, Since: &since, Labels: labels, Author: "ann", Comment: "on it", Policy: "shop",
		Steps: []string{"second line"}, Others: []string{"bob"}, URL: "https://jaque.example/services/web1/http",
	}
	full := &Payload{
		Version: PayloadVersion, ID: "m1", Thread: "t1", Kind: "PROBLEM", Contact: "ann", Alias: "Ann", Channel: "webhook", Repeat: true,
		Time: since, Root: "switch1", URL: "https://jaque.example", Subject: "web1: http is CRITICAL", Text: "a\nb", Short: "a",
		Count: 2, Items: []PayloadItem{one, {Object: "web1", Host: "web1", Labels: labels, Steps: []string{}, Others: []string{}}},
	}
	return []*Payload{full, {Version: PayloadVersion, Kind: "TEST", Test: true, Contact: "ann", Items: []PayloadItem{}, spare: labels}}
}
