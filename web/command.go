package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

// largest is how many bytes a command may have: output of 64 KiB, escaped.
const largest = 512 << 10

func (s *site) command(w http.ResponseWriter, r *http.Request) error {
	if err := s.mayWrite(r); err != nil {
		return err
	}
	if err := parameters(r); err != nil {
		return err
	}
	q, err := readCommand(w, r)
	if err != nil {
		return err
	}
	return q.placed(s.answer(w, r, &q))
}

// answer does what a command says and tells what became of it.
func (s *site) answer(w http.ResponseWriter, r *http.Request, q *request) error {
	wish, err := s.wish(q)
	if err != nil {
		return err
	}
	actions, err := s.plan(&wish)
	if err != nil {
		return err
	}
	objects, err := s.touched(&wish, actions)
	if err != nil {
		return err
	}
	if is(q.Preview, false) {
		preview, err := s.preview(&wish, objects)
		if err != nil {
			return err
		}
		return s.json(w, r, preview)
	}
	if err := confirmation(q, len(objects)); err != nil {
		return err
	}
	said := s.asides(actions, objects)
	report, err := s.perform(r, q, actions)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	s.sent(r, json.NewEncoder(w).Encode(s.accepted(&report, said)))
	return nil
}

func readCommand(w http.ResponseWriter, r *http.Request) (request, error) {
	var q request
	// A foreign page cannot send this type without asking first.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return q, faultf(http.StatusBadRequest, "the body is %q; send application/json", r.Header.Get("Content-Type"))
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		return q, unread(err)
	}
	return decodeCommand(data)
}

// unread is the fault for a body that could not be read.
func unread(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return faultf(http.StatusRequestEntityTooLarge, "the body is larger than the %d bytes that are read; send less", big.Limit)
	}
	return faultf(http.StatusBadRequest, "the body ended too early; send it again")
}
