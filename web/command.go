package web

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
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
	if is(q.Preview, false) {
		wish, _, objects, err := s.read(q)
		if err != nil {
			return err
		}
		preview, err := s.preview(&wish, objects)
		if err != nil {
			return err
		}
		return s.json(w, r, preview)
	}
	var body []byte
	var err error
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		body, err = s.idempotent(r, q, key)
	} else {
		body, err = s.take(r, q)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	located(w.Header(), body)
	w.WriteHeader(http.StatusAccepted)
	_, err = w.Write(body)
	s.sent(r, err)
	return nil
}

// read returns what a command asks for, what that is to be done and the objects
// that it is about.
func (s *site) read(q *request) (operate.Request, []operate.Action, []object.ID, error) {
	wish, err := s.wish(q)
	if err != nil {
		return wish, nil, nil, err
	}
	actions, err := s.plan(&wish)
	if err != nil {
		return wish, nil, nil, err
	}
	objects, err := s.touched(&wish, actions)
	return wish, actions, objects, err
}

// take carries out a command and returns the body that tells what became of it.
func (s *site) take(r *http.Request, q *request) ([]byte, error) {
	_, actions, objects, err := s.read(q)
	if err != nil {
		return nil, err
	}
	if err := confirmation(q, len(objects)); err != nil {
		return nil, err
	}
	said := s.asides(actions, objects)
	report, err := s.perform(r, q, actions)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(s.accepted(&report, said))
	return append(body, '\n'), err
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
	if q, err = decodeCommand(data); err == nil {
		q.content = sha256.Sum256(data)
	}
	return q, err
}

// unread is the fault for a body that could not be read.
func unread(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return faultf(http.StatusRequestEntityTooLarge, "the body is larger than the %d bytes that are read; send less", big.Limit)
	}
	return faultf(http.StatusBadRequest, "the body ended too early; send it again")
}
