package roles

import (
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// fileAuthor is who asked for what a line of the command file names nobody for.
const fileAuthor = "command file"

// signed gives actions that name nobody an author, so that whoever looks at a
// switch sees where it came from. Comments and the like name theirs or are refused.
func signed(actions []operate.Action) []operate.Action {
	for i := range actions {
		a := &actions[i]
		switch c := a.Command.(type) {
		case fold.Switch:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.Tune:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.SetModified:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.ClearFlapping:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.RemoveAcknowledgement:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.RemoveComments:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.CancelDowntimes:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.Reschedule:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.DelayNotification:
			c.Author = orFile(c.Author)
			a.Command = c
		case fold.SetNotificationNumber:
			c.Author = orFile(c.Author)
			a.Command = c
		}
		a.Program = signedProgram(a.Program)
	}
	return actions
}

func signedProgram(asked program.Command) program.Command {
	switch c := asked.(type) {
	case program.Switch:
		c.Author = orFile(c.Author)
		return c
	case program.SwitchContact:
		c.Author = orFile(c.Author)
		return c
	case program.TuneContact:
		c.Author = orFile(c.Author)
		return c
	case program.SetContactModified:
		c.Author = orFile(c.Author)
		return c
	case program.RemoveRule:
		c.Author = orFile(c.Author)
		return c
	}
	return asked
}

func orFile(author string) string {
	if author == "" {
		return fileAuthor
	}
	return author
}
