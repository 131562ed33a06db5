// Package ingress takes the commands of processes that only read the log, such as
// dashboards, to the engines.
//
// It owns the form of a submitted command and its way over one subject: exactly
// one engine claims each command and says so at once, and says later what became
// of it. Nothing of it is kept: a command that no engine claims is lost, and
// whoever submitted it is told. Who may publish on the subject controls the
// monitoring system, so the rights of the server guard it; what arrives is
// validated all the same. It never judges whether a command makes sense for its
// object. Start reading at Client and Server.
package ingress
