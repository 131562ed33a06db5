package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// ErrRefused: the command or the message cannot be carried out as it is.
var ErrRefused = errors.New("the command cannot be submitted")

// kinds are the commands that may be sent, by their name in messages. A name never
// changes its meaning. What only an engine asks of itself is not among them.
var kinds = map[string]reflect.Type{
	"result":                   reflect.TypeFor[fold.Result](),
	"switch":                   reflect.TypeFor[fold.Switch](),
	"clear-flapping":           reflect.TypeFor[fold.ClearFlapping](),
	"acknowledge":              reflect.TypeFor[fold.Acknowledge](),
	"remove-acknowledgement":   reflect.TypeFor[fold.RemoveAcknowledgement](),
	"add-comment":              reflect.TypeFor[fold.AddComment](),
	"remove-comments":          reflect.TypeFor[fold.RemoveComments](),
	"schedule-downtime":        reflect.TypeFor[fold.ScheduleDowntime](),
	"cancel-downtimes":         reflect.TypeFor[fold.CancelDowntimes](),
	"tune":                     reflect.TypeFor[fold.Tune](),
	"set-modified":             reflect.TypeFor[fold.SetModified](),
	"reschedule":               reflect.TypeFor[fold.Reschedule](),
	"delay-notification":       reflect.TypeFor[fold.DelayNotification](),
	"set-notification-number":  reflect.TypeFor[fold.SetNotificationNumber](),
	"notify":                   reflect.TypeFor[fold.Notify](),
	"program-switch":           reflect.TypeFor[program.Switch](),
	"program-switch-contact":   reflect.TypeFor[program.SwitchContact](),
	"program-tune-contact":     reflect.TypeFor[program.TuneContact](),
	"program-contact-modified": reflect.TypeFor[program.SetContactModified](),
	"program-put-rule":         reflect.TypeFor[program.PutRule](),
	"program-remove-rule":      reflect.TypeFor[program.RemoveRule](),
}

// names are the keys of kinds by their types.
var names = func() map[reflect.Type]string {
	all := make(map[reflect.Type]string, len(kinds))
	for name, t := range kinds {
		all[t] = name
	}
	return all
}()

// write returns the name of a command and its fields as JSON.
func write(command any) (name string, fields []byte, err error) {
	name, ok := names[reflect.TypeOf(command)]
	if !ok {
		return "", nil, fmt.Errorf("%T is no command that may be submitted: %w", command, ErrRefused)
	}
	fields, err = json.Marshal(command)
	if err != nil {
		return "", nil, fmt.Errorf("write %s: %w", name, err)
	}
	return name, fields, nil
}

// read is the inverse of write. A field that this build does not know is an error:
// to leave it out would be another command.
func read(name string, fields []byte) (any, error) {
	t, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("no command is called %.80q here, another version may know it: %w", name, ErrRefused)
	}
	v := reflect.New(t)
	if err := Strict(fields, v.Interface()); err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", name, err, ErrRefused)
	}
	return v.Elem().Interface(), nil
}

var errBehind = errors.New("something stands behind it")

// Strict reads one JSON value into v. A field that v has not is an error, and so is
// something behind the value.
func Strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errBehind
	}
	return nil
}

// Author returns who asked for actions, as the first of them that says so has it.
func Author(actions []operate.Action) string {
	for i := range actions {
		var command any = actions[i].Command
		if command == nil {
			command = actions[i].Program
		}
		switch command := command.(type) {
		case fold.ScheduleDowntime:
			return command.Downtime.Author
		case program.PutRule:
			return command.Rule.Author
		}
		if command == nil {
			continue
		}
		if v := reflect.ValueOf(command).FieldByName("Author"); v.IsValid() && v.String() != "" {
			return v.String()
		}
	}
	return ""
}
