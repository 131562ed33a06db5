package view

import "slices"

// Chrome is what surrounds every page.
type Chrome struct {
	Title    string
	Section  string // of the navigation: home, hosts, services, downtimes, comments, notifications, events, settings, workers, engine
	Theme    string // light, dark, "" = as the system says
	Here     string // path and query of this page
	Style    string // addresses of the assets
	Script   string
	Icon     string
	Version  string
	Search   string // text in the search box
	Live     string // address of the change stream, "" = a page that stands still
	Trouble  int    // unhandled problems
	Status   string // one sentence on the whole, read out when it changes
	SignedIn bool   // the browser may write
	SignIn   bool   // there is a token to sign in with
	Banners  []Banner
	Notice   Notice // outcome of the command that led here
	Fleet    bool   // there are workers to be seen
}

// Banner is one thing that is wrong with jaque itself, said on every page.
type Banner struct {
	Text string
	Link Link // where more is said
}

// NewBanners returns what is to be said above every page: that the last
// configuration was refused for a number of problems, and further sentences.
func NewBanners(refused bool, problems int, trouble []string) []Banner {
	var out []Banner
	more := Link{Label: "See the engine", URL: "/status"}
	for _, t := range trouble {
		out = append(out, Banner{Text: t, Link: more})
	}
	if !refused {
		return out
	}
	text := "The last configuration was refused, the one before stays in use."
	if problems > 0 {
		text = "The last configuration was refused: it has " + Count(problems, "problem", "problems") + ". The one before stays in use."
	}
	return append(out, Banner{Text: text, Link: more})
}

// BannerLine says in one line that there are several banners, and the first of them.
func (c Chrome) BannerLine() string {
	if len(c.Banners) < 2 {
		return ""
	}
	return Number(len(c.Banners)) + " warnings: " + c.Banners[0].Text
}

// Nav returns the entries of the navigation.
func (c Chrome) Nav() []Link {
	links := []Link{
		{Label: "Problems", URL: "/", Key: "home"},
		{Label: "Hosts", URL: "/hosts", Key: "hosts"},
		{Label: "Services", URL: "/services", Key: "services"},
		{Label: "Downtimes", URL: "/downtimes", Key: "downtimes"},
		{Label: "Comments", URL: "/comments", Key: "comments"},
		{Label: "Notifications", URL: "/notifications", Key: "notifications"},
		{Label: "Events", URL: "/events", Key: "events"},
		{Label: "Settings", URL: "/settings", Key: "settings"},
		{Label: "Engine", URL: "/status", Key: "engine"},
	}
	if c.Fleet {
		links = slices.Insert(links, len(links)-1, Link{Label: "Workers", URL: "/workers", Key: "workers"})
	}
	if c.Trouble > 0 {
		links[0].Count = Number(c.Trouble)
	}
	for i := range links {
		links[i].Current = links[i].Key == c.Section
	}
	return links
}

// SignInURL returns the page that asks for the token and leads back here.
func (c Chrome) SignInURL() string { return "/sign-in?back=" + escape(c.Here) }

// Link is a labelled address.
type Link struct {
	Label   string
	URL     string
	Key     string
	Count   string
	Current bool
}

// NextTheme returns the theme that the toggle switches to.
func (c Chrome) NextTheme() string {
	switch c.Theme {
	case "light":
		return "dark"
	case "dark":
		return "auto"
	}
	return "light"
}

// ThemeName returns the present theme for people.
func (c Chrome) ThemeName() string { return first(c.Theme, "auto") }
