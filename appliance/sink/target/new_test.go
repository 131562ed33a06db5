package target

import (
	"strings"
	"testing"
	"time"
)

func TestWhatIsWrongWithASink(t *testing.T) {
	for _, c := range []struct {
		name, kind, input string
		settings          map[string]string
		says              []string
	}{
		{"a target nobody knows", "influxx", Metrics, nil, []string{`there is no target "influxx"; write one of influx, graphite`}},
		{"events for a store of numbers", "graphite", Events, nil, []string{`takes input: "metrics", not "events"`}},
		{"measurements for a log", "syslog", Metrics, nil, []string{`takes input: "events", not "metrics"`}},
		{
			"everything at once", "influx", Metrics,
			map[string]string{"url": "ftp://x", "tokn": "t", "items": "0", "wait": "5", "scale": "perhaps", "name": "{hots}", "start": "then"},
			[]string{`url: it is no address`, `tokn: there is no such setting here; did you mean "token"?`, "items:", "wait:", "scale:", "did you mean {host}?", "start:"},
		},
		{"nowhere to write", "influx", Metrics, map[string]string{"url": "http://h:8086"}, []string{`add database: "jaque"`}},
		{"two versions at once", "influx", Metrics, map[string]string{"url": "http://h", "database": "a", "bucket": "b"}, []string{"keep one of them"}},
		{"an org alone", "influx", Metrics, map[string]string{"url": "http://h/write", "org": "b"}, []string{"bucket: it is missing"}},
		{"nothing at all", "graphite", Metrics, nil, []string{`address: it is missing; write address: "127.0.0.1:2003"`}},
		{"no port", "graphite", Metrics, map[string]string{"address": "host"}, []string{`"host" is none`}},
		{"a wrong format", "graphite", Metrics, map[string]string{"address": "h:1", "format": "plain"}, []string{`"plain" is none of plaintext, pickle`}},
		{"remote write without a path", "remote_write", Metrics, map[string]string{"url": "http://h:9090"}, []string{"it has no path"}},
		{"remote write packed twice", "remote_write", Metrics, map[string]string{"url": "http://h/w", "gzip": "true"}, []string{"always packed with snappy"}},
		{"two addresses of OpenTSDB", "opentsdb", Metrics, map[string]string{"url": "http://h", "address": "h:1"}, []string{"keep one of them"}},
		{"a wrong facility", "syslog", Events, map[string]string{"address": "udp://h:1", "facility": "x"}, []string{`facility: "x" is none`}},
		{"an index with capitals", "elastic", Events, map[string]string{"url": "http://h", "index": "Jaque"}, []string{"is no name of an index"}},
		{"a header with a line feed", "webhook", Events, map[string]string{"url": "http://h/x", "header.A": "b\nc"}, []string{"HTTP cannot carry it"}},
		{"two ways to sign in", "webhook", Events, map[string]string{"url": "http://h/x", "user": "u", "token": "t"}, []string{"keep one of them"}},
		{"a password with a percent sign", "nats", Events, map[string]string{"url": "nats://u:Geh%eim@h"}, []string{"%25 for a percent sign"}},
		{"a subject with a wildcard", "nats", Events, map[string]string{"url": "nats://h", "subject": "a.*"}, []string{"is none that can be published to"}},
		{"a file without a path", "file", Events, map[string]string{"max_size": "big"}, []string{"path: it is missing", `max_size: "big" is no size`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(Setup{Kind: c.kind, Input: c.input, Settings: c.settings})
			if err == nil {
				t.Fatal("nothing is found wrong")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got:\n%v\nwant %q in it", err, want)
				}
			}
		})
	}
}

func TestWhatASinkIsMadeOf(t *testing.T) {
	made, err := New(Setup{Kind: "file", Input: Metrics, Folder: "/data", Settings: map[string]string{
		"path": "m.jsonl", "items": "5", "wait": "2s", "timeout": "3s", "start": "beginning", "scale": "false", "thresholds": "true",
		"labels": "env, role", "label.dc": "fra1", "label.unit": "",
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := made.Mapping
	if made.Items != 5 || made.Wait != 2*time.Second || made.Timeout != 3*time.Second || !made.Beginning || made.Measurements ||
		m.Scale || !m.Thresholds || strings.Join(m.Copy, "+") != "env+role" || m.Labels["dc"] != "fra1" || m.Labels["host"] != "{host}" || m.Labels["unit"] != "" {
		t.Errorf("%+v\n%+v", made, m)
	}
	if got := made.Target.(*lines).path; got != "/data/m.jsonl" {
		t.Errorf("path %s", got)
	}
	made, err = New(Setup{Kind: "file", Input: Events, Settings: map[string]string{"path": "x", "measurements": "true"}})
	if err != nil || made.Mapping != nil || !made.Measurements {
		t.Errorf("%+v, %v", made, err)
	}
}
