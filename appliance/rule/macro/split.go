package macro

import "errors"

// ErrNoCommand is returned for a command line without a word.
var ErrNoCommand = errors.New("split command line: it is empty; write the path of a program")

// SplitCommand splits an expanded command line into the words that a shell
// would pass on. It tells if the line needs a real shell, because it redirects,
// chains, substitutes, uses wildcards or variables, starts with an assignment,
// or has a quote that nothing closes; the words are then not to be used.
func SplitCommand(line string) (argv []string, needsShell bool, err error) {
	s := splitter{line: line}
	for s.at < len(line) {
		s.step()
	}
	s.end()
	if s.quote != 0 {
		s.shell = true
	}
	if len(s.words) == 0 {
		return nil, false, ErrNoCommand
	}
	return s.words, s.shell || assignment(s.words[0]), nil
}

// splitter is a small part of a POSIX shell: words, quotes and backslashes. What
// it meets beyond that it marks for a real one.
type splitter struct {
	line  string
	at    int
	quote byte // the open quote, 0 outside
	inArg bool
	word  []byte
	words []string
	shell bool
}

// step takes one character, or two if the first is a backslash.
func (s *splitter) step() {
	c := s.line[s.at]
	s.at++
	switch s.quote {
	case '\'':
		s.single(c)
	case '"':
		s.double(c)
	default:
		s.plain(c)
	}
}

func (s *splitter) put(c byte) {
	s.inArg = true
	s.word = append(s.word, c)
}

// single takes a character within single quotes, where nothing is special.
func (s *splitter) single(c byte) {
	if c == '\'' {
		s.quote = 0
		return
	}
	s.put(c)
}

// double takes a character within double quotes, where a backslash escapes only
// what would be special there.
func (s *splitter) double(c byte) {
	switch c {
	case '"':
		s.quote = 0
	case '\\':
		if s.at < len(s.line) && special(s.line[s.at]) {
			c = s.line[s.at]
			s.at++
		}
		s.put(c)
	case '$', '`':
		s.shell = true
		s.put(c)
	default:
		s.put(c)
	}
}

func special(c byte) bool { return c == '"' || c == '\\' || c == '$' || c == '`' }

// plain takes a character outside quotes.
func (s *splitter) plain(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
		s.end()
		return
	case '\'', '"':
		s.quote, s.inArg = c, true
		return
	case '\\':
		if s.at < len(s.line) {
			s.put(s.line[s.at])
			s.at++
		}
		return
	case '|', '<', '>', '&', ';', '(', ')', '*', '?', '$', '`':
		s.shell = true
	}
	s.put(c)
}

// end finishes a word, also one of nothing but a pair of quotes.
func (s *splitter) end() {
	if s.inArg {
		s.words = append(s.words, string(s.word))
	}
	s.word, s.inArg = s.word[:0], false
}

// assignment tells whether a word sets a variable for the command behind it.
func assignment(word string) bool {
	for i := range len(word) {
		c := word[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		switch {
		case c == '=':
			return i > 0
		case !letter && (i == 0 || c < '0' || c > '9'):
			return false
		}
	}
	return false
}
