package access

import (
	"fmt"
	"strings"
)

const referenceHead = `# Security of a split deployment

Section: Reference · Next: [The API for operators](api.md) · Index: [llms.txt](../llms.txt)

This page is generated from the table that the program itself uses (` + "`go test ./appliance/access -update`" + `).

The embedded log server listens nowhere unless ` + "`-nats-listen HOST:PORT`" + ` is given. Then it speaks TLS only and
lets in nobody but its users. ` + "`jaque credentials ROLE`" + ` makes a user and one file, with which a process of that
role gets in: it holds a secret key, what it is for, and the authority of the server's certificate. A server
that runs takes new users in after about two seconds and ends the connections of those that
` + "`jaque credentials revoke NAME`" + ` removed.

    jaque -target engine -config site.cue -queue embedded -nats-listen 0.0.0.0:4222
    jaque credentials worker -zone dmz -out dmz.creds
    jaque -target worker -nats-creds dmz.creds -queue tls://engine.example.com:4222 -zones dmz

A worker dials out, with one connection. Every process of a role with the same zones may share a file; separate
ones can be revoked separately.

- The data folder has the public keys of the users (` + "`users/`" + `) and the authority (` + "`tls/`" + `), whose key has mode 0600.
  The server's certificate is made at every start and renewed while it runs. Whoever trusts that authority asks
  for the name ` + "`jaque`" + `, so that the server may be reached by any address. ` + "`-nats-tls-cert`" + ` and ` + "`-nats-tls-key`" + `
  replace the certificate; ` + "`jaque credentials -ca FILE`" + ` then names its authority.
- An external nats-server gets the same rights from ` + "`packaging/nats/nats-server.conf`" + ` or ` + "`jaque credentials ROLE -nats-conf`" + `.
- A process whose credentials are wrong or missing ends at once with an error that says so; one that is revoked
  while it runs ends too.
- In a cluster the users are those of all members: whichever makes or revokes one, the others know within seconds,
  and one that was away when it is back. Members tell each other on ` + "`jaque.cluster.>`" + `, where no credentials may publish.
  A revoked user leaves a file in ` + "`users/`" + ` that says so; a file removed by hand comes back from the other members.

## What rights cannot say

A NATS server checks the subject that a client publishes to, not the one at which the client wants the answer,
nor the one to which a consumer that it made delivers. Whoever may make a consumer, or get a message directly,
has the server deliver what is stored, as it is, to a subject of their choice. This is what follows from that:

- Nobody but a notifier has such a right where they keep what they like. A worker makes none: the engine makes the queue
  of each zone, workers pull from it. Members and the positions of sinks are looked up by a request whose answer is
  the server's own, with the value packed in it. That right covers a whole bucket, so nothing secret stands in one.
- Roles that follow the log (ui, sink, notifier) can have events that stand there delivered once more, a worker an
  item of its own zone. The readers do not take them: commands and results count only if they have an inbox for
  the answer and were not delivered from a stream; on the log, what the server delivered from a stream and what
  is no event is passed over and counted. Delivery to the server's own interface is refused.
- Every role can have answers of the server stored on the log, under the keys of members and sinks, and among the
  snapshots: short texts from a worker, and items of its own zone; from ui, sink and notifier also answers as long as
  their request. No setting of a NATS server refuses that. Nobody takes them for anything: on the log they are passed
  over; under a key they are recognised, because what jaque writes there has both a comparison and a life time in its
  headers, and are written over. A heartbeat that was hidden so counts until its member has had the time to renew it,
  a view is restored by the members that know it, a sink goes on from the position below. Buckets are bounded in
  entries and bytes, a full one still takes the next value of every key that is there, and an engine removes what is
  foreign. ` + "`jaque_journal_skipped_events_total{reason=\"foreign\"}`, `jaque_membership_foreign_entries_total`,\n  `jaque_sink_foreign_positions_total` and `jaque_bus_foreign_keys_total`" + ` count them, the log tells of them once. On the
  log they take space. Who floods a key for longer than a member's time to live ends that member. Revoke who does that.
- A notifier writes on the log itself. The server sees to it that it does so on the subjects of outcomes only, not
  to what it says there: let it run where you would let an engine run. It cannot make the log take an engine's
  decisions for sent before: the ids of the messages cannot be guessed, and what the log calls a duplicate counts
  only once it was read there (` + "`jaque_journal_taken_ids_total`" + `).

What a worker says of its zone is believed: it can report any result for the objects of that zone.

Commands are believed too. Whoever may publish to ` + "`jaque.work.cmd.ingress`" + ` (a ui) or to ` + "`jaque.cmd.*`" + ` (engines, which
forward to each other) has any command carried out, and whoever has the rights of an engine can write results and
members as well: these credentials are full control over the monitoring. ` + "`-api-token`" + ` guards the API's listener and not
these subjects, and jaque itself checks nobody's rights there; the server's users and the network are the gate.

## Who may do what

Every subject that is not listed is refused. NAME is the name of the credentials, ZONE each of their zones.
`

// reference returns the documentation page of the rights, in Markdown.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, role := range Roles() {
		h := Holder{Role: role, ID: "NAME"}
		if role == Worker {
			h.Zones = []string{"ZONE"}
		}
		fmt.Fprintf(&b, "\n### %s\n\n| to | it may publish | it may subscribe |\n| --- | --- | --- |\n", role)
		for _, r := range Rights(h) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.For, listed(r.Publish), listed(r.Subscribe))
		}
	}
	return b.String()
}

func listed(subjects []string) string {
	if len(subjects) == 0 {
		return "–"
	}
	return "`" + strings.Join(subjects, "`<br>`") + "`"
}

// packaged returns who has users in the configuration that is shipped for an external
// nats-server, one of each role.
func packaged() []Holder {
	return []Holder{
		{Role: Engine, ID: "engine"},
		{Role: Worker, ID: "worker", Zones: []string{"default"}},
		{Role: UI, ID: "ui"},
		{Role: Sink, ID: "sink"},
		{Role: Notifier, ID: "notifier"},
	}
}

// keyVariable is the variable of the environment from which that configuration takes
// the public key of a user.
func keyVariable(h Holder) string { return "JAQUE_" + strings.ToUpper(string(h.Role)) + "_KEY" }

const confHead = `# A nats-server for jaque: TLS, streams on disk, one user for each role, nobody else.
# Made from the table that jaque itself uses; see README.md beside it.

listen: "0.0.0.0:4222"
server_name: "jaque"

# The file and the key of the server's certificate.
tls {
  cert_file: $JAQUE_TLS_CERT
  key_file: $JAQUE_TLS_KEY
}

jetstream {
  store_dir: $JAQUE_STORE
  sync_interval: always # an event that was acknowledged survives a loss of power
}

max_connections: 4096
write_deadline: "10s"

authorization {
  timeout: 5
  users: [
`

// natsConf returns the configuration of a nats-server that is shipped.
func natsConf() string {
	var b strings.Builder
	b.WriteString(confHead)
	for _, h := range packaged() {
		for line := range strings.Lines(NATSUser(h, "$"+keyVariable(h))) {
			b.WriteString("    " + line)
		}
	}
	b.WriteString("  ]\n}\n")
	return b.String()
}
