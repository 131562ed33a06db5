package web

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// smallest is the number of bytes below which an answer is sent as it is.
const smallest = 1024

var packers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic("web: gzip refuses its own constant: " + err.Error())
	}
	return z
}}

// packed compresses an answer if the client asked for it and it is worth it,
// which the first bytes decide.
type packed struct {
	http.ResponseWriter
	wanted bool
	status int
	z      *gzip.Writer
	plain  bool
}

func compress(w http.ResponseWriter, r *http.Request) *packed {
	w.Header().Add("Vary", "Accept-Encoding")
	return &packed{ResponseWriter: w, wanted: accepts(r.Header.Get("Accept-Encoding")) && r.Method != http.MethodHead}
}

// accepts tells whether a header names gzip and does not refuse it.
func accepts(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) != "gzip" {
			continue
		}
		q, ok := strings.CutPrefix(strings.TrimSpace(quality), "q=")
		if !ok {
			return true
		}
		v, err := strconv.ParseFloat(q, 64)
		return err != nil || v > 0
	}
	return false
}

// WriteHeader waits for the first bytes, which decide about Content-Encoding.
func (p *packed) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

// Write compresses or passes on.
func (p *packed) Write(b []byte) (int, error) {
	if p.z == nil && !p.plain {
		p.begin(len(b))
	}
	if p.z != nil {
		return p.z.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

func (p *packed) begin(n int) {
	h := p.Header()
	if p.wanted && n >= smallest && h.Get("Content-Encoding") == "" && packable(h.Get("Content-Type")) {
		h.Set("Content-Encoding", "gzip")
		h.Del("Content-Length")
		p.z = packers.Get().(*gzip.Writer)
		p.z.Reset(p.ResponseWriter)
	}
	p.plain = p.z == nil
	p.flushHeader()
}

func (p *packed) flushHeader() {
	if p.status != 0 {
		p.ResponseWriter.WriteHeader(p.status)
		p.status = 0
	}
}

func packable(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.Contains(contentType, "json") ||
		strings.Contains(contentType, "javascript") || strings.Contains(contentType, "svg")
}

// close ends the answer. After a panic the buffered rest is lost on purpose.
func (p *packed) close() {
	p.flushHeader()
	if p.z == nil {
		return
	}
	// An error here is the client's lost connection, which the next write of
	// the server notices too.
	_ = p.z.Close()
	packers.Put(p.z)
	p.z = nil
}

// Unwrap lets http.ResponseController reach the connection.
func (p *packed) Unwrap() http.ResponseWriter { return p.ResponseWriter }
