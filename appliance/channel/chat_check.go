package channel

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/opsgenie"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// checkService tells what is wrong with the address of a service. It opens no
// connection.
func checkService(name, address string) (err error) {
	defer guard(&err)
	if !signsIn[name] {
		service, err := newService(address)
		if err != nil {
			return err
		}
		return unusable(service)
	}
	u, err := url.Parse(address)
	if err != nil {
		return ownWords("it is no address")
	}
	if slices.Contains(strings.Split(u.Query().Get("rooms"), ","), "") && u.Query().Has("rooms") {
		return ownWords("a room has no name")
	}
	var c matrix.Config
	if err := c.SetURL(u); err != nil {
		return err
	}
	return either(c.Host != "", noHost)
}

const noHost = "it names no host"

// ownWords is an error that holds nothing of the address.
type ownWords string

func (w ownWords) Error() string { return string(w) }

// either is nil if something is as it must be, else an error.
func either(ok bool, says ownWords) error {
	if ok {
		return nil
	}
	return says
}

// zulipHost is what the library takes for a host of Zulip.
var zulipHost = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$`)

// unusable tells what a service would find out only when it sends: then there would be
// a day of attempts in place of one line from check-config.
func unusable(service types.Service) error {
	switch s := service.(type) {
	case *gotify.Service:
		return unusableGotify(s.Config)
	case *teams.Service:
		c := s.Config
		return either(teams.ValidateWebhookURL(teams.BuildWebhookURL(c.Host, c.Group, c.Tenant, c.AltID, c.GroupOwner, c.ExtraID)) == nil,
			"its parts make no address of a webhook; copy GROUP, TENANT, ALT, OWNER and EXTRA in small letters, and host=NAME.webhook.office.com")
	case *discord.Service:
		return either(!strings.ContainsAny(s.Config.WebhookID+s.Config.Token, "/?#"), "token or ID holds what none can; write discord://TOKEN@ID")
	case *zulip.Service:
		if n := len([]rune(s.Config.Topic)); n > 60 {
			return ownWords(fmt.Sprintf("the topic has %d characters; 60 is the most", n))
		}
		return either(zulipHost.MatchString(s.Config.Host), "the host is no name with a domain such as example.zulipchat.com")
	case *pagerduty.Service:
		if !slices.Contains([]string{"critical", "error", "warning", "info"}, s.Config.Severity) {
			return ownWords("severity is none; write critical, error, warning or info")
		}
		return either(slices.Contains([]string{"trigger", "acknowledge", "resolve"}, s.Config.Action), "action is none; write trigger, acknowledge or resolve")
	case *opsgenie.Service:
		if s.Config.APIKey == "" {
			return ownWords("the key is missing; write opsgenie://api.opsgenie.com/KEY")
		}
		return either(s.Config.Host != "", noHost)
	case *bark.Service:
		if s.Config.DeviceKey == "" {
			return ownWords("the key of the device is missing; write bark://:KEY@HOST")
		}
		return either(s.Config.Host != "", noHost)
	case *ntfy.Service:
		return either(s.Config.Host != "", noHost)
	case *mattermost.Service:
		return either(s.Config.Host != "", noHost)
	case *rocketchat.Service:
		return either(s.Config.Host != "" && s.Config.TokenA != "" && s.Config.TokenB != "", "host or token is missing; write rocketchat://HOST/TOKEN/TOKEN")
	case *googlechat.Service:
		return either(s.Config.Host != "" && s.Config.Key != "" && s.Config.Token != "", "host, key or token is missing; write googlechat://chat.googleapis.com/v1/spaces/SPACE/messages?key=KEY&token=TOKEN")
	}
	return nil
}

// unusableGotify is unusable for Gotify.
func unusableGotify(c *gotify.Config) error {
	var v gotify.DefaultValidator
	switch {
	case c.Host == "":
		return ownWords(noHost)
	case !v.ValidateToken(c.Token):
		return ownWords(fmt.Sprintf("the token is none of an application: it has %d characters, not %d with A as the first; copy it from the page Apps of Gotify", len(c.Token), gotify.TokenLength))
	case v.ValidatePriority(c.Priority) != nil:
		return ownWords("priority is not from -2 to 10")
	}
	return nil
}
