package part

import (
	"github.com/a-h/templ"

	"jaque.sh/jaque/web/view"
)

// described returns the attributes that tie a field to its hint or to what is
// wrong with it, and that give it the focus.
func described(f view.Field) templ.Attributes {
	a := templ.Attributes{}
	if id := f.Described(); id != "" {
		a["aria-describedby"] = id
	}
	if f.Error != "" {
		a["aria-invalid"] = "true"
	}
	if f.Required {
		a["aria-required"] = "true"
	}
	if f.Focus && f.Kind != view.FieldChoice && f.Kind != view.FieldMany {
		a["autofocus"] = true
	}
	return a
}

// forClass names the choice under which a field is shown, see the stylesheet.
func forClass(choice string) string {
	if choice == "" {
		return ""
	}
	return "for for-" + choice
}

// opposite is what a switch goes back to.
func opposite(on bool) string {
	if on {
		return "off"
	}
	return "on"
}
