package external

import (
	"errors"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// Translate returns what a command asks for; each action may still be refused.
// A command with something Special in it has no actions, and one about an empty
// group has none either. An error is a *Refusal.
func Translate(w *operate.World, c Command) ([]operate.Action, error) {
	if c.row == nil {
		return nil, refusal(Malformed, c.Name, "the command was not read by Parse")
	}
	if c.row.do == nil {
		return nil, nil
	}
	t := translation{w: w, c: &c}
	if err := c.row.do(&t); err != nil {
		return nil, c.refused(err)
	}
	if len(c.Args) == len(c.row.args)+2 && c.Args[len(c.Args)-1] != "" {
		note := fold.AddComment{Author: t.author(), Text: c.Args[len(c.Args)-1]}
		for _, o := range t.noted {
			t.about(o, note)
		}
	}
	return t.actions, nil
}

// refused turns what package operate says into a refusal of this command.
func (c *Command) refused(err error) error {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r
	}
	why := Argument
	if e := (*operate.Error)(nil); errors.As(err, &e) {
		why = Target
	}
	return refusal(why, c.Name, "%v", err)
}

// translation is one command while it is translated. Arguments are read one
// after the other; their form is known to be right.
type translation struct {
	w       *operate.World
	c       *Command
	at      int
	actions []operate.Action
	// noted are the objects that a comment at the end of the line is about.
	noted []*object.Object
}

// next returns the next argument, "" if there is none.
func (t *translation) next() string {
	if t.at >= len(t.c.Args) {
		return ""
	}
	t.at++
	return t.c.Args[t.at-1]
}

func (t *translation) time() object.Time {
	at, _ := readTime(t.next())
	return at
}

func (t *translation) number() int64 {
	n, _ := readInt(t.next())
	return n
}

// flag reads a number as Nagios does: anything above 0 is yes.
func (t *translation) flag() bool { return t.number() > 0 }

// author returns who is named behind the arguments, "" if nobody.
func (t *translation) author() string {
	if t.c.row.noted && len(t.c.Args) > len(t.c.row.args) {
		return t.c.Args[len(t.c.row.args)]
	}
	return ""
}

// entry is when the command was written. A clock that runs ahead makes it now.
func (t *translation) entry() object.Time { return min(t.c.Time, t.w.Now) }

func (t *translation) about(o *object.Object, c fold.Command) {
	t.actions = append(t.actions, operate.Action{Object: o.ID, Command: c})
}

func (t *translation) program(c program.Command) {
	t.actions = append(t.actions, operate.Action{Program: c})
}

// id returns an identity for the n-th thing that the command makes.
func (t *translation) id(n int) string {
	prefix := t.c.ID
	if prefix == "" {
		prefix = "x" + strconv.FormatUint(hash(t.c), 36)
	}
	return prefix + "." + strconv.Itoa(n)
}

// hash is 64-bit FNV-1a of what the line says.
func hash(c *Command) uint64 {
	h := uint64(14695981039346656037)
	mix := func(s string) {
		for i := 0; i < len(s); i++ {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	mix(strconv.FormatInt(int64(c.Time), 10))
	mix(c.Name)
	for _, a := range c.Args {
		mix(";" + a)
	}
	return h
}

// scope reads which objects a command is for.
type scope func(*translation) ([]*object.Object, error)

// each makes the same command for every object of a scope.
func each(of scope, make func(*translation) (fold.Command, error)) func(*translation) error {
	return func(t *translation) error {
		objects, err := of(t)
		if err != nil {
			return err
		}
		c, err := make(t)
		if err != nil {
			return err
		}
		for _, o := range objects {
			t.about(o, c)
		}
		return nil
	}
}

// plain is for makers that cannot fail.
func plain(make func(*translation) fold.Command) func(*translation) (fold.Command, error) {
	return func(t *translation) (fold.Command, error) { return make(t), nil }
}

// switching makes the doer of a pair of commands that switch objects.
func switching(of scope, what object.Switches) func(on bool) func(*translation) error {
	return func(on bool) func(*translation) error {
		return each(of, plain(func(t *translation) fold.Command {
			return fold.Switch{What: what, On: on, Author: t.author()}
		}))
	}
}

func theHost(t *translation) ([]*object.Object, error) {
	o, err := t.host(t.next())
	t.noted = []*object.Object{o}
	return t.noted, err
}

// host returns a host by name; a service's ID is none.
func (t *translation) host(name string) (*object.Object, error) {
	if strings.Contains(name, "!") {
		return nil, refusal(Target, t.c.Name, "there is no host %q; names have no ! in them", clip(name))
	}
	return operate.Object(t.w.Set, object.HostID(name))
}

func theService(t *translation) ([]*object.Object, error) {
	host, err := t.host(t.next())
	if err != nil {
		return nil, err
	}
	return t.service(host)
}

func (t *translation) service(host *object.Object) ([]*object.Object, error) {
	o, err := operate.Object(t.w.Set, object.ServiceID(host.Name, t.next()))
	t.noted = []*object.Object{o}
	return t.noted, err
}

// addressedHost is as forgiving as Nagios is for results: an address will do.
// Where several hosts have it, the first by name is meant.
func addressedHost(t *translation) ([]*object.Object, error) {
	name := t.next()
	o, err := t.host(name)
	if err == nil {
		return []*object.Object{o}, nil
	}
	if t.w.Address != nil {
		o = t.w.Address(name)
	} else {
		o = operate.ByAddress(t.w.Set, name)
	}
	if o == nil {
		return nil, err
	}
	return []*object.Object{o}, nil
}

func addressedService(t *translation) ([]*object.Object, error) {
	hosts, err := addressedHost(t)
	if err != nil {
		return nil, err
	}
	return t.service(hosts[0])
}

// servicesOfHost notes the comment on the host, as Nagios does.
func servicesOfHost(t *translation) ([]*object.Object, error) {
	hosts, err := theHost(t)
	if err != nil {
		return nil, err
	}
	return hosts[0].Services, nil
}

func hostAndServices(t *translation) ([]*object.Object, error) {
	hosts, err := theHost(t)
	if err != nil {
		return nil, err
	}
	return append([]*object.Object{hosts[0]}, hosts[0].Services...), nil
}

func hostAndChildren(t *translation) ([]*object.Object, error) {
	hosts, err := theHost(t)
	if err != nil {
		return nil, err
	}
	return append([]*object.Object{hosts[0]}, operate.Behind(hosts[0])...), nil
}

func beyondHost(t *translation) ([]*object.Object, error) {
	hosts, err := theHost(t)
	if err != nil {
		return nil, err
	}
	var all []*object.Object
	for _, h := range operate.Behind(hosts[0]) {
		all = append(append(all, h), h.Services...)
	}
	return all, nil
}

// members returns the members of a group that are of a kind. A group with none of
// them is one for the other kind, unless it has no members at all.
func (t *translation) members(what string, k object.Kind) ([]*object.Object, error) {
	name := t.next()
	all, err := operate.Group(t.w.Set, name)
	if err != nil {
		return nil, err
	}
	var some []*object.Object
	for _, o := range all {
		if o.Kind() == k {
			some = append(some, o)
		}
	}
	if len(some) == 0 && len(all) > 0 {
		return nil, refusal(Target, t.c.Name, "group %q is no %s: it has no %s in it", clip(name), what, k)
	}
	t.noted = some
	return some, nil
}

func hostsOfHostGroup(t *translation) ([]*object.Object, error) {
	return t.members("hostgroup", object.Host)
}

func servicesOfHostGroup(t *translation) ([]*object.Object, error) {
	hosts, err := hostsOfHostGroup(t)
	t.noted = nil
	for _, h := range hosts {
		t.noted = append(t.noted, h.Services...)
	}
	return t.noted, err
}

func servicesOfServiceGroup(t *translation) ([]*object.Object, error) {
	return t.members("servicegroup", object.Service)
}

// hostsOfServiceGroup returns each host once; Nagios skips only repetitions that
// follow each other.
func hostsOfServiceGroup(t *translation) ([]*object.Object, error) {
	services, err := servicesOfServiceGroup(t)
	t.noted = nil
	seen := map[object.ID]bool{}
	for _, s := range services {
		if !seen[s.Host.ID] {
			seen[s.Host.ID] = true
			t.noted = append(t.noted, s.Host)
		}
	}
	return t.noted, err
}
