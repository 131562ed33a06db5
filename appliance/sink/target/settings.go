package target

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/near"
)

// Mistake is one thing that is wrong with the declaration of a target.
type Mistake struct {
	Setting string // "" = the target as a whole
	Text    string // what is wrong, and what to write instead
}

// Mistakes are all that is wrong with one target.
type Mistakes []Mistake

// Error returns one mistake a line.
func (m Mistakes) Error() string {
	var lines []string
	for _, one := range m {
		if one.Setting != "" {
			one.Text = one.Setting + ": " + one.Text
		}
		lines = append(lines, one.Text)
	}
	return strings.Join(lines, "\n")
}

// settings are the texts of one target in the config. Mistakes are collected, so
// that all are told at once.
type settings struct {
	all      map[string]string
	known    []string
	mistakes Mistakes
}

func (s *settings) bad(name, format string, args ...any) {
	s.mistakes = append(s.mistakes, Mistake{name, fmt.Errorf(format, args...).Error()})
}

// text returns a setting, or what counts without it.
func (s *settings) text(name, without string) string {
	s.known = append(s.known, name)
	if v, ok := s.all[name]; ok {
		return v
	}
	return without
}

// need returns a setting that must be there.
func (s *settings) need(name, example string) string {
	v := s.text(name, "")
	if v == "" {
		s.bad(name, "it is missing; write %s: %q", name, example)
	}
	return v
}

// oneOf returns one of some words, the first if nothing is said.
func (s *settings) oneOf(name string, words ...string) string {
	v := s.text(name, words[0])
	if !slices.Contains(words, v) {
		s.bad(name, "%q is none of %s", v, strings.Join(words, ", "))
		return words[0]
	}
	return v
}

func (s *settings) flag(name string, without bool) bool {
	v := s.text(name, strconv.FormatBool(without))
	on, err := strconv.ParseBool(v)
	if err != nil {
		s.bad(name, "%q is no switch; write true or false", v)
	}
	return on
}

// whole returns a whole number within bounds.
func (s *settings) whole(name string, without, least, most int) int {
	v := s.text(name, strconv.Itoa(without))
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		s.bad(name, "%q is no whole number from %d to %d", v, least, most)
		return without
	}
	return n
}

// length returns a length of time, 0 if nothing is said.
func (s *settings) length(name string) time.Duration {
	v := s.text(name, "")
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		s.bad(name, `%q is no length of time; write "5s" or "2m"`, v)
	}
	return d
}

// size returns a number of bytes: "500KB", "100MB", "1GB" or plain digits.
func (s *settings) size(name, without string) int64 {
	v := s.text(name, without)
	n, err := parseSize(v)
	if err != nil {
		s.bad(name, "%q %w", v, err)
	}
	return n
}

func parseSize(text string) (int64, error) {
	number, shift := text, 0
	for i, unit := range []string{"KB", "MB", "GB"} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			number, shift = digits, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > 1<<50>>shift {
		return 0, errors.New(`is no size; write "500KB", "100MB" or "1GB"`)
	}
	return n << shift, nil
}

// list returns words between commas.
func (s *settings) list(name, without string) []string {
	var out []string
	for word := range strings.SplitSeq(s.text(name, without), ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// group returns the settings "PREFIX.NAME" by NAME.
func (s *settings) group(prefix string) map[string]string {
	out := map[string]string{}
	for name, v := range s.all {
		if key, ok := strings.CutPrefix(name, prefix+"."); ok && key != "" {
			s.known = append(s.known, name)
			out[key] = v
		}
	}
	return out
}

// done returns all that is wrong, settings that nobody asked for among it.
func (s *settings) done() error {
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		if slices.Contains(s.known, name) {
			continue
		}
		hint := "; known are " + strings.Join(slices.Compact(slices.Sorted(slices.Values(s.known))), ", ")
		if best := nearest(name, s.known); best != "" {
			hint = fmt.Sprintf("; did you mean %q?", best)
		}
		s.bad(name, "there is no such setting here%s", hint)
	}
	if len(s.mistakes) == 0 {
		return nil
	}
	return s.mistakes
}

func nearest(wrong string, known []string) string {
	const slips = 2
	best, at := "", slips+1
	for _, name := range known {
		if n := near.Distance(wrong, name, slips); n < at {
			best, at = name, n
		}
	}
	return best
}
