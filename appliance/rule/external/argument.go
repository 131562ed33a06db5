package external

import "math"

// kind is what stands in the place of an argument.
type kind uint8

const (
	aHost kind = iota
	anAddress
	aService
	aHostGroup
	aServiceGroup
	aContact
	aContactGroup
	aPeriod
	aTime
	aFlag
	aSticky
	aCode
	aNumber
	anID
	aDuration
	aMinutes
	theAttempts
	theOptions
	theBits
	aVariable
	anAuthor
	aComment
	anOutput
	aValue
	aFile
	aCommand
)

// argument describes a kind of argument for people.
type argument struct {
	name string
	text string
}

// arguments describes every kind; constant.
var arguments = [...]argument{
	aHost:         {"host", "name of a host"},
	anAddress:     {"host", "name of a host, or its address"},
	aService:      {"service", "name of a service on that host"},
	aHostGroup:    {"hostgroup", "name of a group of hosts"},
	aServiceGroup: {"servicegroup", "name of a group of services"},
	aContact:      {"contact", "name of a contact"},
	aContactGroup: {"contactgroup", "name of a group of contacts"},
	aPeriod:       {"period", "name of a time period"},
	aTime:         {"time", "seconds since 1970"},
	aFlag:         {"flag", "above 0 is yes"},
	aSticky:       {"sticky", "2 holds until the recovery, anything else until the state changes"},
	aCode:         {"code", "the plugin's exit code; for hosts 0 UP, 1 DOWN, 2 UNREACHABLE"},
	aNumber:       {"number", "from 0"},
	anID:          {"id", "number of a comment or downtime"},
	aDuration:     {"duration", "seconds"},
	aMinutes:      {"minutes", "whole; 0 = not regularly"},
	theAttempts:   {"attempts", "from 1"},
	theOptions:    {"options", "sum of 1 for every contact, 2 for whatever filters say, 4 to count it"},
	theBits:       {"value", "sum of Nagios' bits of modified attributes"},
	aVariable:     {"variable", "name of a custom variable, with or without _"},
	anAuthor:      {"author", "who asks for it; may be empty"},
	aComment:      {"comment", "the rest of the line, with ; in it or not"},
	anOutput:      {"output", `the rest of the line; \n is a new line, \\ a backslash`},
	aValue:        {"value", "the rest of the line"},
	aFile:         {"file", "absolute path"},
	aCommand:      {"command", ""},
}

// takesRest tells whether an argument may contain the separator.
func (k kind) takesRest() bool {
	switch k {
	case aComment, anOutput, aValue, aCommand:
		return true
	}
	return false
}

// isText tells whether an argument is for people to read.
func (k kind) isText() bool { return k == anAuthor || k.takesRest() }

// check tells what is wrong with the form of an argument.
func (k kind) check(s string) error {
	var err error
	switch k {
	case aTime:
		_, err = readTime(s)
	case aFlag, aSticky, aCode:
		_, err = readInt(s)
	case aNumber:
		_, err = readCount(s, 0, math.MaxInt32)
	case theAttempts:
		_, err = readCount(s, 1, math.MaxInt32)
	case anID:
		_, err = readCount(s, 1, math.MaxInt64)
	case aDuration:
		_, err = readCount(s, 0, math.MaxInt32)
	case aMinutes:
		_, err = readUnits(s)
	case theOptions:
		_, err = readCount(s, 0, 7)
	case theBits:
		_, err = readBits(s)
	}
	return err
}
