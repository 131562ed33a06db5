package wire

// fleetSchemas describes who executes checks, and for which zones.
func fleetSchemas() dict {
	items := func(name string) dict { return dict{"type": "array", "items": ref(name)} }
	return dict{
		"Workers": record(dict{
			"items": items("Worker"), "zones": items("Zone"),
			"trouble": said("string", "why this may not be the whole truth, such as a connection that is away; empty while all is well"),
		}),
		"Worker": record(dict{
			"id": typed("string"), "zones": said("list", "that it serves"), "version": said("string", "of its program"),
			"other_version": said("boolean", "its program is of another version than this process"),
			"too_old":       said("boolean", "it does not understand checks of this version and answers them with UNKNOWN"),
			"capacity":      said("integer", "checks that it runs at once at most"), "busy": said("integer", "checks that it runs, as it last said"),
			"last_seen": said("time", "when it last announced itself"),
		}),
		"Zone": record(dict{
			"zone": typed("string"), "workers": said("integer", "that serve it now"),
			"capacity":       said("integer", "of these workers together; they may serve other zones too"),
			"busy":           said("integer", "checks that these workers run, of whichever zone"),
			"waiting":        said("integer", "checks of the zone that no worker has begun"),
			"oldest_waiting": said("time", "when the oldest of them was sent; null = none waits, or it is not known here"),
			"deserted_since": said("time", "since when no worker serves the zone; null = one does"),
		}),
	}
}
