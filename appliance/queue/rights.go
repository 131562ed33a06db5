package queue

// Rights are the subjects that a server must allow a process on the queue, and
// no others. The log needs rights of its own.
type Rights struct {
	Publish, Subscribe []string
	// Inbox is the prefix of the subjects on which it receives answers; the
	// connection must be made with it (nats.CustomInboxPrefix). Under the client's
	// common prefix every process could read what is sent to another one.
	Inbox string
}

// WorkerRights returns those of a worker under the name of its credentials. It
// reads the work of its zones and answers it, and nothing else: the zone is part
// of every subject it uses. It cannot make a consumer, whose deliveries the server
// sends wherever its maker says.
func WorkerRights(prefix, name string, zones []string) Rights {
	n := namesFor(prefix)
	r := Rights{Inbox: "_INBOX.worker." + token(name)}
	r.Subscribe = []string{r.Inbox + ".>", n.hello()}
	for _, zone := range zones {
		consumer := n.stream + "." + n.consumer(zone)
		r.Publish = append(r.Publish,
			"$JS.API.CONSUMER.MSG.NEXT."+consumer, "$JS.ACK."+consumer+".>",
			n.root+".result.*."+token(zone), n.worker(zone))
	}
	return r
}

// EngineRights returns those of an engine: it writes work for every zone, makes
// the stream and the consumers from which the workers pull, and reads its own results
// and what workers announce. It cannot pull.
func EngineRights(prefix, engine string) Rights {
	n := namesFor(prefix)
	r := Rights{Inbox: "_INBOX.engine." + token(engine)}
	r.Subscribe = []string{r.Inbox + ".>", n.root + ".result." + token(engine) + ".*", n.root + ".worker.*"}
	r.Publish = []string{
		n.root + ".check.*", n.hello(), "_INBOX.worker.*.>",
		"$JS.API.STREAM.CREATE." + n.stream, "$JS.API.STREAM.UPDATE." + n.stream, "$JS.API.STREAM.INFO." + n.stream,
		"$JS.API.CONSUMER.CREATE." + n.stream + ".*." + n.root + ".check.*",
	}
	return r
}
