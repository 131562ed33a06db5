package macro

// Line returns the command line that a check command means, expanded: the
// arguments one by one, then the line with them.
func Line(command string, lookup func(name string) (line string, ok bool), src *Source, opts Options) (string, error) {
	line, err := CheckCommand(command, lookup)
	if err != nil {
		return "", err
	}
	return Expand(line, src, opts), nil
}
