package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// shelf holds the assets under names that change with their content.
type shelf struct {
	byName map[string]asset  // name.hash.ext
	hashed map[string]string // name.ext to address
}

type asset struct {
	data []byte
	kind string
	tag  string
}

func newShelf(files fs.FS) (*shelf, error) {
	s := &shelf{byName: map[string]asset{}, hashed: map[string]string{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		hash := hex.EncodeToString(sum[:6])
		ext := path.Ext(name)
		kind := mime.TypeByExtension(ext)
		if known, ok := kinds[ext]; ok {
			kind = known // the machine's own table may differ
		}
		unique := strings.TrimSuffix(name, ext) + "." + hash + ext
		s.byName[unique] = asset{data: data, kind: kind, tag: `"` + hash + `"`}
		s.hashed[name] = "/assets/" + unique
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	for _, name := range []string{"jaque.css", "jaque.js", "icon.svg"} {
		if s.hashed[name] == "" {
			return nil, fmt.Errorf("read assets: %s is missing", name)
		}
	}
	return s, nil
}

var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func (s *site) asset(w http.ResponseWriter, r *http.Request) error {
	a, ok := s.assets.byName[r.PathValue("name")]
	if !ok {
		return faultf(http.StatusNotFound, "there is no asset at %s; reload the page", r.URL.Path)
	}
	h := w.Header()
	h.Set("ETag", a.tag)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if strings.Contains(r.Header.Get("If-None-Match"), a.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", a.kind)
	_, err := w.Write(a.data)
	s.sent(r, err)
	return nil
}
