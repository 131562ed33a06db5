package wire

// operatorSchemas describes commands and what operators left behind.
func operatorSchemas() dict {
	items := func(name string) dict { return dict{"type": "array", "items": ref(name)} }
	page := func(items dict, more dict) dict {
		properties := dict{
			"items": items, "total": typed("integer"),
			"next": dict{"type": "string", "description": "cursor of the next page, empty on the last"},
		}
		for name, schema := range more {
			properties[name] = schema
		}
		return record(properties)
	}
	return dict{
		"Command": commandSchema(),
		"Preview": record(dict{"total": typed("integer"), "note": typed("string"), "items": items("Touched"), "occurrences": items("Occurrence")}),
		"Touched": record(dict{"object": typed("string")}),
		"Submission": record(dict{
			"id": typed("string"), "submitted": typed("time"), "total": said("integer", "actions"), "applied": typed("integer"), "refused": typed("integer"),
			"state": dict{
				"type": "string", "enum": []string{"submitted", "applied", "partly", "refused", "unconfirmed"},
				"description": "submitted: an engine has it; applied: all of it stands on the log, or there was nothing to change; partly: the rest was refused or is not confirmed; refused: nothing was done; unconfirmed: nothing was heard for 30 s, it may still take effect",
			},
			"unconfirmed": typed("integer"), "results": items("Outcome"),
		}),
		"Accepted": record(dict{"id": typed("string"), "total": typed("integer"), "failed": typed("integer"), "rule": said("string", "id of the downtime for many objects or times that was made"), "results": items("Outcome")}),
		"Outcome": record(dict{
			"object": typed("string"), "rule": said("string", "id of a downtime for many that was cancelled"), "outcome": dict{"type": "string", "enum": []string{"done", "refused", "failed", "unconfirmed"}}, "detail": typed("string"),
		}),
		"Occurrence": record(dict{
			"start": typed("time"), "end": typed("time"), "local_start": typed("string"), "local_end": typed("string"),
			"length": said("integer", "seconds that pass"), "dst": said("string", "what the change of the clocks does to it, empty = nothing"),
		}),
		"Acknowledgement": record(dict{
			"kind": dict{"type": "string", "enum": []string{"normal", "sticky"}}, "author": typed("string"), "comment": typed("string"),
			"time": typed("time"), "expires": typed("time"),
		}),
		"Setting":   record(dict{"name": typed("string"), "value": typed("string"), "author": typed("string"), "time": typed("time")}),
		"Downtime":  downtimeSchema(),
		"Rule":      ruleSchema(),
		"Downtimes": page(items("Downtime"), dict{"rules": items("Rule")}),
		"Comment": record(dict{
			"id": typed("string"), "number": typed("integer"), "object": typed("string"),
			"kind":   dict{"type": "string", "enum": []string{"user", "acknowledgement"}},
			"author": typed("string"), "comment": typed("string"), "time": typed("time"), "expires": typed("time"), "persistent": typed("boolean"),
		}),
		"Comments": page(items("Comment"), nil),
		"ProgramSwitch": record(dict{
			"name": typed("string"), "on": typed("boolean"), "configured": typed("boolean"), "author": typed("string"), "time": typed("time"),
		}),
		"Contact": record(dict{
			"name": typed("string"), "host_notifications": typed("boolean"), "service_notifications": typed("boolean"), "settings": items("Setting"),
		}),
		"ObjectSettings": record(dict{"object": typed("string"), "settings": items("Setting")}),
		"Settings": record(dict{
			"program": items("ProgramSwitch"), "contacts": items("Contact"), "objects": items("ObjectSettings"),
			"total": said("integer", "objects"), "next": said("string", "cursor of the next page of objects, empty on the last"),
		}),
	}
}

// said is a schema with a sentence on what it is.
func said(kind, help string) dict {
	s := typed(kind)
	s["description"] = help
	return s
}

func commandSchema() dict {
	text := func(help string) dict { return said("string", help) }
	moment := func(help string) dict { return dict{"type": "string", "format": "date-time", "description": help} }
	flag := func(help string) dict { return said("boolean", help) }
	schema := record(dict{
		"command":     dict{"type": "string", "enum": commandWords()},
		"object":      text("one host or host!service"),
		"objects":     said("list", "several of them"),
		"group":       text("the hosts of a group with their services, and services in it"),
		"filter":      text("everything that matches, * = everything"),
		"program":     flag("the whole program (enable, disable)"),
		"contact":     text("a contact (enable, disable of notifications)"),
		"kind":        dict{"type": "string", "enum": []string{"host", "service"}, "description": "narrows group and filter"},
		"scope":       dict{"type": "string", "enum": []string{"services", "with-services", "children", "with-children", "beyond"}, "description": "widens hosts"},
		"author":      text("who asks, default api"),
		"comment":     text("why; at most 4096 bytes"),
		"preview":     flag("only tell what would be touched"),
		"confirm":     said("integer", "number of objects, needed above 50 of a group, a filter or a scope"),
		"sticky":      flag("acknowledge: until the recovery, not only until the next change; default true"),
		"notify":      flag("acknowledge: tell people, default true"),
		"persistent":  flag("keep the comment: acknowledge, when the acknowledgement ends, default false; add-comment, over a start of the engine, default true"),
		"expires":     moment("acknowledge, add-comment: when it ends by itself"),
		"start":       moment("schedule-downtime: default now; recurring: not before; cancel-downtime: of those that start then"),
		"end":         moment("schedule-downtime: or duration; recurring: begins no more from then"),
		"duration":    said("number", "schedule-downtime: seconds from start to end"),
		"flexible":    said("number", "schedule-downtime: seconds it lasts once a problem starts within start and end"),
		"trigger":     text("schedule-downtime: id of the downtime that starts it"),
		"ranges":      said("list", "schedule-downtime: recurring, as in sunday 02:00-04:00"),
		"timezone":    text("schedule-downtime: of the ranges, an IANA name; default UTC"),
		"id":          text("cancel-downtime, delete-comment: of one"),
		"what":        said("list", "enable, disable: active_checks, passive_checks, notifications, flap_detection, event_handler, perfdata, obsess"),
		"setting":     text("set: interval, retry, attempts, check_period, notification_period, event_handler_period, var.NAME"),
		"value":       text("set: empty = as configured"),
		"at":          moment("check-now: default now"),
		"forced":      flag("check-now: whatever switches, periods and dependencies say, default true, else refused if they forbid it; notify: whatever filters say, default false"),
		"broadcast":   flag("notify: everybody, default false"),
		"increment":   flag("notify: count it as a notification of the problem, default false"),
		"state":       dict{"type": []string{"string", "integer"}, "description": "submit-result: name or exit code"},
		"output":      text("submit-result: text; further lines are taken for long_output"),
		"long_output": text("submit-result: further lines"),
		"perfdata":    text("submit-result: performance data"),
		"time":        moment("submit-result: when the result was made; default now"),
	})
	schema["required"] = []string{"command"}
	return schema
}

func commandWords() []string {
	return []string{
		"acknowledge", "remove-acknowledgement", "schedule-downtime", "cancel-downtime", "add-comment", "delete-comment",
		"check-now", "submit-result", "enable", "disable", "set", "notify",
	}
}

func downtimeSchema() dict {
	return record(dict{
		"id": typed("string"), "number": typed("integer"), "object": typed("string"),
		"kind":   dict{"type": "string", "enum": []string{"fixed", "flexible", "triggered"}},
		"author": typed("string"), "comment": typed("string"), "entry": typed("time"), "start": typed("time"), "end": typed("time"),
		"flexible": said("number", "seconds it lasts once it started, 0 = from start to end"),
		"trigger":  said("string", "id of the downtime that starts it"),
		"rule":     said("string", "id of the rule it was made from"),
		"started":  said("time", "null = it does not run"),
		"until":    said("time", "when it ends as things are, null = with its trigger"),
	})
}

func ruleSchema() dict {
	return record(dict{
		"id": typed("string"), "number": typed("integer"), "author": typed("string"), "comment": typed("string"), "entry": typed("time"),
		"object": typed("string"), "with_services": typed("boolean"), "group": typed("string"), "filter": typed("string"),
		"target": said("string", "what it is for, in words"), "objects": said("integer", "that have a downtime made from it now"),
		"start": typed("time"), "end": typed("time"), "flexible": typed("number"), "ranges": typed("list"), "timezone": typed("string"),
		"occurrences": dict{"type": "array", "items": ref("Occurrence")},
	})
}
