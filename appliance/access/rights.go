package access

import (
	"slices"

	"jaque.sh/jaque/appliance/access/credential"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/forward"
	"jaque.sh/jaque/appliance/ingress"
	"jaque.sh/jaque/appliance/queue"
)

// Right is what a holder may do for one purpose. Everything that no right lists is
// refused by the server.
type Right struct {
	For                string // the purpose, for documentation
	Publish, Subscribe []string
}

// Rights is the table: what a holder may do.
func Rights(h Holder) []Right {
	n := bus.NamesFor(h.Prefix)
	mine := Right{For: "receive answers", Subscribe: []string{credential.Inbox(string(h.Role), h.ID) + ".>"}}
	switch h.Role {
	case Engine:
		return slices.Concat([]Right{mine}, engine(n, h), commands(h), []Right{positions(n), members(n, coordination.Engines)})
	case Worker:
		r := queue.WorkerRights(h.Prefix, h.ID, h.Zones)
		return []Right{{For: "take the work of its zones, answer it, and say that it lives", Publish: r.Publish, Subscribe: r.Subscribe}}
	case UI:
		return slices.Concat([]Right{mine}, reader(n), []Right{history(n), submit(h), fleet(h)})
	case Sink:
		return slices.Concat([]Right{mine}, reader(n), []Right{positions(n), members(n, coordination.Sinks)})
	case Notifier:
		return slices.Concat([]Right{mine}, reader(n), []Right{history(n), outcomes(n), members(n, coordination.Notifiers)})
	case Backup:
		return []Right{mine, {For: "see what streams there are", Publish: each(streams(n), "$JS.API.STREAM.INFO.", "")}, copies(n), {For: "verify the log", Publish: consumer(n.Log)}}
	}
	return nil
}

// Subjects sums up what rights allow, each subject once.
func Subjects(rights []Right) (publish, subscribe []string) {
	for _, r := range rights {
		publish, subscribe = append(publish, r.Publish...), append(subscribe, r.Subscribe...)
	}
	slices.Sort(publish)
	slices.Sort(subscribe)
	return slices.Compact(publish), slices.Compact(subscribe)
}

// streams are those behind everything that an engine declares.
func streams(n bus.Names) []string {
	return []string{n.Log, n.Results, "OBJ_" + n.Snapshots, "KV_" + n.Members, "KV_" + n.State}
}

// each makes a subject of every name.
func each(names []string, before, after string) []string {
	var out []string
	for _, name := range names {
		out = append(out, before+name+after)
	}
	return out
}

// engine writes the log and everything derived from it, and hands out work.
func engine(n bus.Names, h Holder) []Right {
	all := streams(n)
	work := queue.EngineRights(h.Prefix, h.ID)
	return []Right{
		{For: "declare streams and buckets", Publish: slices.Concat([]string{"$JS.API.INFO"},
			each(all, "$JS.API.STREAM.INFO.", ""), each(all, "$JS.API.STREAM.CREATE.", ""), each(all, "$JS.API.STREAM.UPDATE.", ""))},
		{For: "write events", Publish: []string{n.LogRoot + ".>", n.ResultRoot + ".>", "$JS.API.STREAM.MSG.GET." + n.Log}},
		{For: "remove from the buckets what no process wrote", Publish: []string{
			"$JS.API.STREAM.PURGE.KV_" + n.Members, "$JS.API.STREAM.PURGE.KV_" + n.State, "$JS.API.STREAM.MSG.GET.KV_" + n.Members, "$JS.API.STREAM.MSG.GET.KV_" + n.State,
		}},
		{For: "write snapshots", Publish: []string{"$O." + n.Snapshots + ".>", "$JS.API.STREAM.PURGE.OBJ_" + n.Snapshots}},
		follow(n), snapshots(n), history(n),
		{For: "hand out work and take results", Publish: work.Publish, Subscribe: work.Subscribe},
	}
}

// reader follows the log.
func reader(n bus.Names) []Right {
	return []Right{{For: "see what streams there are", Publish: each(streams(n), "$JS.API.STREAM.INFO.", "")}, follow(n), snapshots(n)}
}

// follow reads both streams from a position on. A consumer's name is its maker's
// choice, so that a right cannot name it.
func follow(n bus.Names) Right {
	r := Right{For: "follow events"}
	for _, s := range []string{n.Log, n.Results} {
		r.Publish = append(r.Publish, consumer(s)...)
	}
	return r
}

// consumer makes, removes and paces consumers that deliver into the own inbox.
//
// Whoever makes a consumer says where it delivers to, and no right limits that. So it
// is never granted on a stream to which the holder itself can write, but for the log
// itself.
func consumer(stream string, filters ...string) []string {
	out := []string{"$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.FC." + stream + ".>"}
	if len(filters) == 0 {
		return append(out, "$JS.API.CONSUMER.CREATE."+stream+".*")
	}
	return append(out, each(filters, "$JS.API.CONSUMER.CREATE."+stream+".*.", "")...)
}

func snapshots(n bus.Names) Right {
	stream, root := "OBJ_"+n.Snapshots, "$O."+n.Snapshots
	return Right{For: "read snapshots", Publish: append(consumer(stream, root+".>"), "$JS.API.DIRECT.GET."+stream+"."+root+".>")}
}

func history(n bus.Names) Right {
	return Right{For: "read single events", Publish: []string{"$JS.API.DIRECT.GET." + n.Log, "$JS.API.DIRECT.GET." + n.Results}}
}

// outcomes are what a notifier writes: that a message went out or not.
func outcomes(n bus.Names) Right {
	return Right{For: "write outcomes of notifications", Publish: []string{n.LogRoot + ".*.outcome"}}
}

// copies have the server send whole streams.
func copies(n bus.Names) Right {
	return Right{For: "take backups", Publish: slices.Concat(
		each(n.Kept(), "$JS.API.STREAM.SNAPSHOT.", ""), each(n.Kept(), "$JS.SNAPSHOT.ACK.", ".>"))}
}

// positions are how far each sink has come; engines run those of events, processes of role
// sink those of measurements. What a holder has written it must not have
// delivered by a direct get or a consumer: the server sends that to any subject. The
// right to read covers the whole bucket, so that nothing secret may stand there.
func positions(n bus.Names) Right {
	return Right{For: "keep the positions of sinks", Publish: []string{"$KV." + n.State + ".sink.*", "$JS.API.STREAM.MSG.GET.KV_" + n.State}}
}

// members are heartbeats and the view of one bucket of members, with the same care.
func members(n bus.Names, path string) Right {
	root := "$KV." + n.Members + "." + path
	return Right{For: "be a member of " + path + "/", Publish: []string{root + "/member.*", root + "/view", "$JS.API.STREAM.MSG.GET.KV_" + n.Members}}
}

// root is the first tokens of every subject of work.
func root(h Holder) string {
	if h.Prefix == "" {
		return "jaque.work"
	}
	return h.Prefix + ".jaque.work"
}

func submit(h Holder) Right {
	return Right{For: "submit commands", Publish: []string{ingress.Subject(h.Prefix)}}
}

// commands reach an engine from processes that only read, and from other engines.
func commands(h Holder) []Right {
	return []Right{
		{For: "take commands", Subscribe: []string{ingress.Subject(h.Prefix)}, Publish: []string{"_INBOX.ui.*.>"}},
		{
			For:       "forward commands to the engines that own their objects, and take those of its own",
			Subscribe: []string{forward.Subject(h.Prefix, h.ID)}, Publish: []string{forward.Everywhere(h.Prefix), "_INBOX.engine.*.>"},
		},
	}
}

// fleet is what workers say of themselves.
func fleet(h Holder) Right {
	return Right{For: "see the workers", Subscribe: []string{root(h) + ".worker.*"}, Publish: []string{root(h) + ".hello"}}
}
