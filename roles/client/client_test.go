package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// dialog is one case of a file in testdata.
type dialog struct {
	name, typed   string
	terminal      bool
	in, out, errs string
	talk          []exchange
	exit          string
}

// exchange is one question to the API and its answer.
type exchange struct {
	method, path, body string
	status             int
	answer             string
}

func readDialogs(t *testing.T) []dialog {
	t.Helper()
	var data []byte
	for _, name := range []string{"dialogs.txt", "notify.txt", "workers.txt"} {
		more, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, more...)
	}
	var all []dialog
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# "); ok {
			all = append(all, dialog{name: name})
		}
		if len(all) == 0 {
			continue
		}
		d := &all[len(all)-1]
		switch mark, rest, _ := strings.Cut(line, " "); mark {
		case "$":
			d.typed = rest
		case "terminal":
			d.terminal = true
		case "in|":
			d.in += strings.NewReplacer(`\\`, `\`, `\t`, "\t").Replace(rest) + "\n"
		case "out|":
			d.out += rest + "\n"
		case "err|":
			d.errs += rest + "\n"
		case ">":
			parts := strings.SplitN(rest+" ", " ", 3)
			d.talk = append(d.talk, exchange{method: parts[0], path: parts[1], body: strings.TrimSpace(parts[2])})
		case "<":
			x := &d.talk[len(d.talk)-1]
			code, answer, _ := strings.Cut(rest, " ")
			x.answer = answer
			if _, err := fmt.Sscan(code, &x.status); err != nil {
				t.Fatalf("%s: %q: %v", d.name, line, err)
			}
		case "=":
			d.exit = rest
		}
	}
	return all
}

// split cuts a line into words as a shell does, with both kinds of quotes.
func split(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		word := ""
		for line != "" && line[0] != ' ' {
			if q := line[:1]; q == "'" || q == `"` {
				inside, rest, _ := strings.Cut(line[1:], q)
				word, line = word+strings.ReplaceAll(inside, `\n`, "\n"), rest
				continue
			}
			word, line = word+line[:1], line[1:]
		}
		words = append(words, word)
	}
	return words
}

// server plays the API's part and complains about what it did not expect.
func server(t *testing.T, talk []exchange) *httptest.Server {
	var mu sync.Mutex
	next := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if next >= len(talk) {
			t.Errorf("unexpected %s %s %s", r.Method, r.URL, body)
			return
		}
		x := talk[next]
		next++
		if r.Method != x.method || r.URL.String() != x.path || !sameJSON(string(body), x.body) {
			t.Errorf("asked %s %s %s\nwant  %s %s %s", r.Method, r.URL, body, x.method, x.path, x.body)
		}
		if kind := r.Header.Get("Content-Type"); len(body) > 0 && kind != "application/json" {
			t.Errorf("the body is sent as %q", kind)
		}
		w.WriteHeader(x.status)
		_, _ = io.WriteString(w, x.answer+"\n")
	}))
	t.Cleanup(func() {
		s.Close()
		if next != len(talk) {
			t.Errorf("the API was asked %d times, want %d", next, len(talk))
		}
	})
	return s
}

func sameJSON(a, b string) bool {
	var x, y any
	_ = json.Unmarshal([]byte(a), &x)
	_ = json.Unmarshal([]byte(b), &y)
	return reflect.DeepEqual(x, y)
}

// process is a process at nine o'clock on a Tuesday in Berlin.
func process(t *testing.T, url string, env map[string]string) (p Process, out, errs *bytes.Buffer) {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return Process{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: errs, User: "ada", URL: url,
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		ReadFile: func(name string) ([]byte, error) {
			if name == "token" {
				return []byte("from-file\n"), nil
			}
			return nil, fs.ErrNotExist
		},
		Now: func() time.Time { return time.Date(2027, 1, 12, 10, 0, 0, 0, berlin) },
	}, out, errs
}

func TestDialogs(t *testing.T) {
	dialogs := readDialogs(t)
	for _, d := range dialogs {
		t.Run(d.name, func(t *testing.T) {
			s := server(t, d.talk)
			p, out, errs := process(t, s.URL, nil)
			p.Stdin, p.Terminal = strings.NewReader(d.in), d.terminal
			words := split(d.typed)
			if words[0] != "jaque" {
				t.Fatalf("typed %q", d.typed)
			}
			code := Run(t.Context(), words[1:], p)
			// What was typed ends the line of a question, which is not seen here.
			got := strings.ReplaceAll(errs.String(), s.URL, "URL")
			got = strings.TrimSuffix(strings.TrimSuffix(got, "\n"), " ")
			if fmt.Sprint(code) != d.exit || out.String() != d.out || got != strings.TrimSuffix(d.errs, "\n") {
				t.Errorf("exit %d, want %s\nstdout:\n%s\nwant:\n%s\nstderr:\n%s\nwant:\n%s", code, d.exit, out, d.out, got, d.errs)
			}
		})
	}
	t.Logf("%d dialogs", len(dialogs))
}

func TestWhomToAskAndWithWhichToken(t *testing.T) {
	for name, c := range map[string]struct {
		args  string
		env   map[string]string
		token string
	}{
		"no token":                                 {"", nil, ""},
		"of the environment":                       {"", map[string]string{"JAQUE_API_TOKEN": "env"}, "Bearer env"},
		"of a file that the environment names":     {"", map[string]string{"JAQUE_API_TOKEN_FILE": "token"}, "Bearer from-file"},
		"of the command line":                      {"-token typed", map[string]string{"JAQUE_API_TOKEN": "env"}, "Bearer typed"},
		"of a file before that of the environment": {"-token-file token", map[string]string{"JAQUE_API_TOKEN": "env"}, "Bearer from-file"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header.Get("Authorization")
				_, _ = io.WriteString(w, `{"items":[{"id":"1"}]}`)
			}))
			defer s.Close()
			env := map[string]string{"JAQUE_URL": s.URL + "/"}
			for k, v := range c.env {
				env[k] = v
			}
			p, _, errs := process(t, "http://127.0.0.1:1", env)
			if code := Run(t.Context(), split("comment list "+c.args), p); code != Done || got != c.token {
				t.Fatalf("exit %d, token %q, want %q: %s", code, got, c.token, errs)
			}
		})
	}
}

func TestWhereNobodyAnswers(t *testing.T) {
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	t.Cleanup(func() { close(hang); slow.Close() })
	says := func(status int, text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, status) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	for name, c := range map[string]struct {
		args, want string
		exit       int
	}{
		"it serves nothing yet":  {"-url " + says(503, "not ready: waiting for a quorum"), "is not ready: waiting for a quorum", Failed},
		"it is not jaque":        {"-url " + says(503, "no upstream"), "is it jaque that answers there?", Failed},
		"nobody listens":         {"-url http://127.0.0.1:1", "is jaque running there? name another address with -url", Failed},
		"somebody is too slow":   {"-timeout 50ms -url " + slow.URL, "within 50ms; it may still be done", Failed},
		"no address":             {"-url localhost:8420", `"localhost:8420" is no address of jaque; write http://host:port`, Usage},
		"no length of time":      {"-timeout 5", `"5" is no length of time; write 30m`, Usage},
		"no form":                {"-o yaml", "write table or json", Usage},
		"no file with a token":   {"-token-file none", "-token-file: file does not exist", Usage},
		"two tokens":             {"-token a -token-file b", "both given", Usage},
		"an option twice":        {"-o json -o table", "-o is given twice", Usage},
		"a switch with a number": {"-forced=1", "neither true nor false", Usage},
		"two kinds of target":    {"-group db", "do not go together", Usage},
		"an unknown scope":       {"-scope childs", "did you mean children?", Usage},
		"a kind of an object":    {"-kind host", "objects are named whole", Usage},
		"a confirmed word":       {"-confirm all", "is no number of objects", Usage},
	} {
		t.Run(name, func(t *testing.T) {
			p, out, errs := process(t, slow.URL, nil)
			code := Run(t.Context(), split("check-now web01 "+c.args), p)
			if code != c.exit || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
				t.Fatalf("exit %d, want %d; %q lacks %q", code, c.exit, errs, c.want)
			}
		})
	}
}

func TestAListKeepsTheOrderOfEachObject(t *testing.T) {
	const objects, each = 20, 30
	var mu sync.Mutex
	seen := map[string][]string{}
	busy := true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Object, Output string }
		_ = json.NewDecoder(r.Body).Decode(&q)
		mu.Lock()
		defer mu.Unlock()
		if busy { // once: too much to do
			busy = false
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"status":503,"detail":"too many commands are waiting"}`)
			return
		}
		seen[q.Object] = append(seen[q.Object], q.Output)
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"total":1,"results":[{"object":%q,"outcome":"done"}]}`, q.Object)
	}))
	defer s.Close()
	var list strings.Builder
	var want []string
	for i := range each {
		want = append(want, fmt.Sprintf("line %d", i))
		for o := range objects {
			fmt.Fprintf(&list, "h%d\t0\tline %d\r\n", o, i)
		}
	}
	p, out, errs := process(t, s.URL, nil)
	p.Stdin = strings.NewReader(list.String())
	if code := Run(t.Context(), []string{"submit", "-"}, p); code != Done || out.String() != "600 results handed in, 0 failed\n" {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for o := range objects {
		if got := seen[fmt.Sprintf("h%d", o)]; !slices.Equal(got, want) {
			t.Fatalf("h%d got %q", o, got)
		}
	}
}

func TestALineThatIsTooLongEndsAList(t *testing.T) {
	s := server(t, []exchange{{
		method: http.MethodPost, path: "/api/v1/commands", status: http.StatusAccepted,
		body:   `{"command":"submit-result","object":"web01","author":"ada","state":"UP","output":"x"}`,
		answer: `{"total":1,"results":[{"object":"web01","outcome":"done"}]}`,
	}})
	p, out, errs := process(t, s.URL, nil)
	p.Stdin = strings.NewReader("web01\tUP\tx\n\nweb01\tUP\t" + strings.Repeat("y", longest) + "\nweb01\tUP\tz\n")
	code := Run(t.Context(), []string{"submit", "-"}, p)
	if code != Failed || !strings.Contains(errs.String(), "line 3 is longer") || !strings.HasPrefix(out.String(), "1 result handed in") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestHelpNamesEveryOptionAndFitsATerminal(t *testing.T) {
	for _, c := range commands() {
		p, out, errs := process(t, "http://127.0.0.1:1", nil)
		if code := Run(t.Context(), append(strings.Fields(c.name), "-h"), p); code != Done || errs.Len() > 0 {
			t.Fatalf("%s: exit %d: %s", c.name, code, errs)
		}
		text, ok := Help(c.name)
		if !ok || text != out.String() || !strings.HasPrefix(text, "Usage: jaque "+c.name+" ") {
			t.Errorf("%s: %s", c.name, text)
		}
		for _, o := range c.options {
			if !strings.Contains(text, "  -"+o.name) {
				t.Errorf("%s: -%s is not told", c.name, o.name)
			}
		}
		for line := range strings.Lines(text) {
			if len([]rune(line)) > 140 {
				t.Errorf("%s: a line of %d characters: %s", c.name, len(line), line)
			}
		}
	}
	if _, ok := Help("nothing"); ok {
		t.Error("there is help for nothing")
	}
	for _, name := range Names() {
		if !strings.Contains(Summary(), "  "+name+" ") {
			t.Errorf("the summary lacks %s", name)
		}
	}
}
