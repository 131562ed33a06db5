package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
)

// theme keeps the choice of light or dark in a cookie, so that it works
// without scripts and the first byte of a page knows it.
func (s *site) theme(w http.ResponseWriter, r *http.Request) error {
	if err := s.foreign(r); err != nil {
		return err
	}
	c := &http.Cookie{Name: "jaque_theme", Path: "/", SameSite: http.SameSiteLaxMode, HttpOnly: true, MaxAge: 400 * 24 * 3600}
	t, err := formValue(w, r, "theme")
	if err != nil {
		return err
	}
	switch t {
	case "light", "dark":
		c.Value = t
	case "auto":
		c.MaxAge = -1
	default:
		return faultf(http.StatusBadRequest, "theme is %q; choose light, dark or auto", t)
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, back(r), http.StatusSeeOther)
	return nil
}

func (s *site) signInPage(w http.ResponseWriter, r *http.Request) error {
	return s.askToken(w, r, http.StatusOK, "")
}

func (s *site) askToken(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	if s.Token == "" {
		return faultf(http.StatusNotFound, "this process has no token to sign in with; browsers on its machine may write without")
	}
	c := s.chrome(r, "Sign in", "")
	c.Live = ""
	return s.render(w, r, status, page.SignIn(view.SignIn{Chrome: c, Back: back(r), Error: problem}))
}

func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.foreign(r); err != nil {
		return err
	}
	token, err := formValue(w, r, "token")
	if err != nil {
		return err
	}
	if s.Token == "" || !same(token, s.Token) {
		return s.askToken(w, r, http.StatusUnauthorized, "This is not the token.")
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: s.session(), Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, back(r), http.StatusSeeOther)
	return nil
}

func (s *site) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.foreign(r); err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", HttpOnly: true, MaxAge: -1, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, back(r), http.StatusSeeOther)
	return nil
}

// foreign refuses forms that another site sent.
func (s *site) foreign(r *http.Request) error {
	if err := s.origin.Check(r); err != nil {
		return faultf(http.StatusForbidden, "the form comes from another site; use the one of this dashboard")
	}
	return nil
}

// formValue reads a field of a small form.
func formValue(w http.ResponseWriter, r *http.Request, name string) (string, error) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	var big *http.MaxBytesError
	if err := r.ParseForm(); errors.As(err, &big) {
		return "", unread(err)
	}
	return r.PostFormValue(name), nil
}

// back returns where a form came from: a path of this site, else the first page.
func back(r *http.Request) string {
	to := r.PostFormValue("back")
	if r.Method == http.MethodGet {
		to = r.URL.Query().Get("back")
	}
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) {
		return "/"
	}
	return to
}

// asFault returns the fault in an error, nil if there is none.
func asFault(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}
