package wire

// notifySchemas describes who is told what: explanations, the notification log,
// contacts.
func notifySchemas() dict {
	items := func(name string) dict { return dict{"type": "array", "items": ref(name)} }
	listOf := func(name string, more dict) dict {
		properties := dict{"items": items(name)}
		for key, schema := range more {
			properties[key] = schema
		}
		return record(properties)
	}
	return dict{
		"Explanation": record(dict{
			"object": typed("string"), "at": typed("time"), "past": typed("boolean"), "future": typed("boolean"),
			"condition": said("string", "the state then, in words"),
			"supposed":  said("string", "what was supposed, because nothing is to be told of the state as it is"),
			"decision":  ref("NoteDecision"), "next": record(dict{"at": typed("time"), "kind": typed("string"), "text": typed("string")}),
			"ahead": items("NoteAhead"), "recorded": items("Notification"), "caveats": said("list", "what limits the answer"),
		}),
		"NoteDecision": decisionSchema(items),
		"NoteGate": record(dict{
			"name": typed("string"), "verdict": dict{"type": "string", "enum": []string{"passed", "blocked", "not reached"}},
			"meaning": typed("string"), "why": typed("string"), "until": said("time", "when time alone may lift the block"),
		}),
		"NotePerson": record(dict{
			"name": typed("string"), "alias": typed("string"), "told": typed("boolean"),
			"says": dict{"type": "string", "enum": []string{"told", "not told", "would be told", "given up"}}, "why": typed("string"),
			"by": typed("string"), "channels": typed("list"), "gates": items("NoteGate"), "changes": items("NoteChange"),
			"would_be_told_if": typed("string"),
		}),
		"NoteChange": record(dict{
			"gate": typed("string"), "contact": typed("string"), "at": said("time", "the time that would have to come, null = time does not help"),
			"number": said("integer", "which notification of the problem it would have to be, 0 = that does not help"), "text": typed("string"),
		}),
		"NoteAhead": record(dict{
			"at": typed("time"), "last": typed("time"), "number": typed("integer"), "times": typed("integer"), "more": typed("boolean"),
			"steps": typed("list"), "told": typed("list"),
		}),
		"Notification":  notificationSchema(items),
		"NoteDelivery":  deliverySchema(),
		"Notifications": listOf("Notification", dict{"next": said("string", "cursor of the next page, empty on the last")}),
		"OpenRequest": record(dict{
			"request": typed("string"), "seq": typed("integer"), "time": typed("time"), "object": typed("string"), "kind": typed("string"),
			"number": typed("integer"), "contact": typed("string"), "channel": typed("string"), "failures": typed("integer"), "reason": typed("string"),
		}),
		"OpenRequests": listOf("OpenRequest", dict{"total": typed("integer")}),
		"ContactEntry": record(dict{
			"name": typed("string"), "alias": typed("string"), "groups": typed("list"), "channels": said("list", "names, never addresses"),
			"host_notifications": typed("boolean"), "service_notifications": typed("boolean"), "settings": items("Setting"),
			"on_call": dict{"type": "array", "items": record(dict{"schedule": typed("string"), "why": typed("string"), "until": typed("time")})},
		}),
		"Contacts":   listOf("ContactEntry", nil),
		"NotifyTest": withRequired(record(dict{"contact": typed("string"), "channel": said("string", "one of the contact's; empty = each of them")}), "contact"),
		"NotifyTested": record(dict{
			"contact": typed("string"), "delivered": said("boolean", "over every channel"),
			"outcomes": dict{"type": "array", "items": record(dict{"channel": typed("string"), "delivered": typed("boolean"), "reason": typed("string"), "seconds": typed("number")})},
		}),
	}
}

func withRequired(schema dict, names ...string) dict {
	schema["required"] = names
	return schema
}

func decisionSchema(items func(string) dict) dict {
	return record(dict{
		"kind": typed("string"), "send": typed("boolean"), "verdict": typed("string"),
		"by": said("string", "the gate that has decided against it, empty = none"), "until": said("time", "when time alone may change it"),
		"policy": typed("string"), "number": typed("integer"), "steps": typed("list"), "gates": items("NoteGate"), "contacts": items("NotePerson"),
		"changes":          dict{"type": "array", "items": ref("NoteChange"), "description": "what has to be different for somebody to be told, all of it together"},
		"would_be_sent_if": said("string", "the same in one sentence"),
	})
}

func notificationSchema(items func(string) dict) dict {
	return record(dict{
		"seq": typed("integer"), "event": typed("string"), "time": typed("time"), "object": typed("string"),
		"cause": said("string", "kind of the event that it was decided with"), "state": typed("string"), "kind": typed("string"),
		"send": typed("boolean"), "number": typed("integer"), "policy": typed("string"), "steps": typed("list"), "author": typed("string"),
		"text": typed("string"), "by": typed("string"), "why": said("string", "why nobody was told"), "until": typed("time"),
		"gates": items("NoteGate"), "contacts": items("NotePerson"), "deliveries": items("NoteDelivery"),
	})
}

func deliverySchema() dict {
	return record(dict{
		"request": typed("string"), "contact": typed("string"), "channel": typed("string"),
		"status": dict{"type": "string", "enum": []string{"waiting", "failed", "delivered", "abandoned", "unknown"}},
		"time":   said("time", "of the newest outcome"), "attempts": typed("integer"), "reason": said("string", "of the last failure"),
		"repeat": said("boolean", "the message was marked as a possible repetition"), "group": typed("string"),
		"with": said("integer", "requests in that message"), "message": typed("string"),
	})
}
