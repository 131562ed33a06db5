// Package commandfile reads commands from a named pipe, as Nagios does from its
// command_file, and from files that such a command names.
//
// It owns the pipe: making, reading and removing it, cutting the stream into
// lines, refusing what can be no command, and the count of what became of the
// lines. It never reads what a line says; the Handler does. Start reading at
// Open and Pipe.Run.
package commandfile
