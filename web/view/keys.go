package view

// Keys is the page about the keyboard.
type Keys struct {
	Chrome Chrome
	Keys   []Key
}

// Key is a shortcut.
type Key struct{ Key, Help string }

// NewKeys returns the page about the keyboard.
func NewKeys(c Chrome) Keys {
	k := Keys{Chrome: c, Keys: []Key{{"/", "go to the search box"}, {"?", "this list"}}}
	for _, w := range commands {
		if w.Key != "" {
			k.Keys = append(k.Keys, Key{w.Key, w.Heading + ": the object of the page, or the chosen rows of a list"})
		}
	}
	return Keys{Chrome: c, Keys: append(k.Keys,
		Key{"m", "more commands"},
		Key{"Space", "choose the row whose box has the focus"},
		Key{"Enter", "send the form"},
		Key{"Esc", "close the form; nothing is done"},
	)}
}
