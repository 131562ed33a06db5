package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/roles"
)

const clusterHelp = `Usage: jaque cluster init -cluster-name NAME -cluster-listen HOST:PORT [-engine-id ID] [-data FOLDER]
       jaque cluster token [-witness] [-join-listen HOST:PORT] [-data FOLDER]
       jaque cluster join TOKEN -cluster-listen HOST:PORT [-engine-id ID] [-data FOLDER]
       jaque cluster status [-o text|json] [-data FOLDER]
       jaque cluster remove ID [-yes] [-lost] [-data FOLDER]
       jaque cluster drill failover [-member ID] [-hold TIME] [-yes] [-o text|json] [-data FOLDER]

Makes appliances on several machines members of one cluster: each keeps a copy of the
log, any of them may fail, and all of them work.

init makes this machine's data folder the one of the first member, with an authority by
which members know each other, and prints a token. A folder with a log keeps it. Start
jaque as ever afterwards: it needs no further flags.

token prints another token, on a machine whose member runs: each lets one machine in,
within an hour. A member listens for those who join, at -join-listen, only while a token
is out; by default that is the port behind the one of -cluster-listen.

join makes this machine's data folder, which must be empty, one of a further member.
Start jaque with the same configuration as at the first one afterwards; a witness
is started with jaque witness. While the cluster takes in another machine it waits for up
to 30 s and says so.

status tells of the cluster, at a member that runs: who is there, who keeps which copy of
the log, how the engines share the objects, and what is lost if one more member dies.

remove takes a member out, at another one: its copies go to others that are there, its
vote no longer counts, and its data folder is of no use any more. It is refused while what
was acknowledged could be lost by it. -lost does it for members that are gone for good all
the same, and without a quorum.

drill failover has the engine of a member that runs give its objects to the others and take
them back, and reports for how long each went without its check. The process lives on and
comes back by itself. Status 1 also if a check that fell due was not run.

  -cluster-name NAME         of the cluster, the same at every member
  -cluster-listen HOST:PORT  where the other members reach this machine
  -engine-id ID              this member's name (default: the host name)
  -data FOLDER               the data folder (default: as for the process)
  -witness                   the token is for a witness: a vote and a copy of the log
                             without an engine, for two appliances
  -o text|json               form of the status and of the report (default text)
  -yes                       remove a member that is running; drill while one is away or a
                             copy lacks something
  -member ID                 whose failover is drilled (default: the one that is asked)
  -hold TIME                 for how long it gives its objects away at most, and is watched
                             after that, 5s to 10m (default 30s): the longer, the more
                             checks fall due meanwhile
  -lost                      remove a member that never comes back, without a quorum: if it
                             runs again with its folder, it ends as soon as it reaches the
                             others, and until then two clusters write two logs

A token is a secret until it is used. docs/guide/cluster.md tells more.
Exit status 0 if it is done, 1 if not, 2 for wrong usage.
`

// clusterOptions are the flags of the command.
type clusterOptions struct {
	name, listen, id, data, join string
	form, member                 string
	hold                         time.Duration
	witness, yes, lost           bool
}

// clusterCommand makes members of a cluster.
func clusterCommand(args []string, stdout, stderr io.Writer) error {
	var o clusterOptions
	set := flag.NewFlagSet("cluster", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.name, "cluster-name", "", "")
	set.StringVar(&o.listen, "cluster-listen", "", "")
	set.StringVar(&o.id, "engine-id", "", "")
	set.StringVar(&o.data, "data", "", "")
	set.StringVar(&o.join, "join-listen", "", "")
	set.BoolVar(&o.witness, "witness", false, "")
	set.BoolVar(&o.yes, "yes", false, "")
	set.BoolVar(&o.lost, "lost", false, "")
	set.StringVar(&o.form, "o", "text", "")
	set.StringVar(&o.member, "member", "", "")
	set.DurationVar(&o.hold, "hold", drillHold, "")
	words, err := parseMixed(set, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, clusterHelp)
		return nil
	case err != nil:
		return clusterUsage("%v", err)
	case len(words) == 0:
		return clusterUsage("what? write init, token, join, status, remove or drill")
	case o.form != "text" && o.form != "json":
		return clusterUsage("-o %s: write text or json", o.form)
	}
	if err := o.settle(); err != nil {
		return err
	}
	return o.do(words, stdout, stderr)
}

// do does what the words say.
func (o *clusterOptions) do(words []string, stdout, stderr io.Writer) error {
	switch what := words[0]; {
	case what == "init" && len(words) == 1:
		return o.found(stdout, stderr)
	case what == "token" && len(words) == 1:
		return o.token(stdout, stderr)
	case what == "join" && len(words) == 2:
		return o.enter(words[1], stdout, stderr)
	case what == "join":
		return clusterUsage("write the token that `jaque cluster init` or `jaque cluster token` printed, as in jaque cluster join jaque-join-… -cluster-listen 192.0.2.2:4248")
	case what == "status" && len(words) == 1:
		return o.status(stdout, stderr)
	case what == "remove" && len(words) == 2:
		return o.remove(words[1], stdout, stderr)
	case what == "remove":
		return clusterUsage("name one member, as `jaque cluster status` shows it: jaque cluster remove ID")
	case what == "drill" && len(words) == 2 && words[1] == "failover":
		return o.drill(stdout, stderr)
	case what == "drill":
		return clusterUsage("what is drilled? write jaque cluster drill failover, and the member with -member ID")
	}
	return clusterUsage("%q is none of init, token, join, status, remove and drill, or there is too much behind it", words[0])
}

func clusterUsage(format string, args ...any) error {
	return &roles.UsageError{Problems: []string{"cluster: " + fmt.Sprintf(format, args...) + " (\"jaque help cluster\" tells more)"}}
}

// settle fills in what was not given.
func (o *clusterOptions) settle() error {
	env := environment()
	if o.data == "" {
		if o.data, _ = env.Lookup("JAQUE_DATA"); o.data == "" {
			o.data = roles.DefaultData(env)
		}
	}
	if o.data == "" {
		return clusterUsage("there is no home folder; name the data folder with -data")
	}
	if o.id == "" {
		o.id = roles.HostID(env.Host)
	}
	return nil
}

func (o *clusterOptions) found(stdout, stderr io.Writer) error {
	if o.name == "" || o.listen == "" {
		return clusterUsage("init needs -cluster-name and -cluster-listen, as in jaque cluster init -cluster-name site -cluster-listen 192.0.2.1:4248")
	}
	if err := cluster.Found(o.data, cluster.Member{Cluster: o.name, ID: o.id, Listen: o.listen}); err != nil {
		return err
	}
	warnOfLoopback(stderr, o.listen)
	fmt.Fprintf(stderr, "jaque: %s is the first member of cluster %s now, as %s; start jaque with -data %s (or restart it)\n", o.data, o.name, o.id, o.data)
	return o.token(stdout, stderr)
}

func (o *clusterOptions) token(stdout, stderr io.Writer) error {
	m, err := cluster.Read(o.data)
	if err != nil {
		return err
	}
	if o.join == "" {
		host, port, err := net.SplitHostPort(m.Listen)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(port)
		if err != nil || n >= 65535 {
			return clusterUsage("name where machines that join reach this one with -join-listen HOST:PORT")
		}
		o.join = net.JoinHostPort(host, strconv.Itoa(n+1))
	}
	t, err := cluster.NewToken(o.data, o.join, o.witness, time.Now())
	if err != nil {
		return err
	}
	more := " and start jaque with the same configuration as here"
	if o.witness {
		more = " and start it with jaque witness"
	}
	fmt.Fprintf(stderr, "jaque: one machine can join until %s. There: jaque cluster join TOKEN -cluster-listen ITS-ADDRESS:%s%s\n",
		t.Expires.Local().Format("15:04 MST"), portOf(m.Listen), more)
	fmt.Fprintln(stdout, t)
	return nil
}

// warnOfLoopback says when nobody on another machine can reach an address.
func warnOfLoopback(stderr io.Writer, address string) {
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		fmt.Fprintf(stderr, "jaque: WARNING: -cluster-listen %s can be reached from this machine only, so that no other machine can be a member; "+
			"write this machine's name or address in the network instead\n", address)
	}
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// joinPatience is how long a cluster may take until it can let a machine in.
const joinPatience = 30 * time.Second

func (o *clusterOptions) enter(text string, stdout, stderr io.Writer) error {
	t, err := cluster.ParseToken(text)
	if err != nil {
		return err
	}
	if o.listen == "" {
		return clusterUsage("join needs -cluster-listen: where the other members reach this machine, as in -cluster-listen 192.0.2.2:4248")
	}
	ctx, stop := untilInterrupted()
	defer stop()
	m, err := cluster.Join(ctx, o.data, t, cluster.Member{ID: o.id, Listen: o.listen}, cluster.Patience{
		Most: joinPatience,
		Tell: func(what string) { fmt.Fprintf(stderr, "jaque: waiting to be let in: %s\n", what) },
	})
	if err != nil {
		return err
	}
	how := "start jaque with -data " + o.data
	if m.Witness {
		how = "start it with jaque witness -data " + o.data
	}
	warnOfLoopback(stderr, o.listen)
	fmt.Fprintf(stdout, "%s is member %s of cluster %s now; %s\n", o.data, m.ID, m.Cluster, how)
	return nil
}
