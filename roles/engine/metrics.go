package engine

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

type metrics struct {
	checks           *prometheus.CounterVec
	lateness         prometheus.Histogram
	conflicts        prometheus.Counter
	appendErrors     prometheus.Counter
	epochBehind      prometheus.Counter
	notOwned         prometheus.Counter
	forwarded        *prometheus.CounterVec
	refused          *prometheus.CounterVec
	shed             prometheus.Counter
	decided          prometheus.Counter
	lostMeasurements prometheus.Counter
	lostDecisions    prometheus.Counter
	handover         prometheus.Histogram
	handoverGap      prometheus.Histogram
	snapshotErrors   prometheus.Counter
	snapshotTime     prometheus.Gauge
	reloadPause      prometheus.Gauge
	commands         *prometheus.CounterVec
	blocked          *prometheus.CounterVec
	ticks            prometheus.Counter
	missed           prometheus.Counter
	tickLateness     prometheus.Histogram

	program                      atomic.Uint32 // object.Program: what is on
	runningChecks, waitingChecks atomic.Int64
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func newMetrics(reg prometheus.Registerer, e *Engine) *metrics {
	m := &metrics{
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_checks_total", Help: "Checks executed, by kind of check.",
		}, []string{"kind"}),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "jaque_check_lateness_seconds", Help: "Time from when a check was due to its actual start.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		conflicts:    counter("jaque_engine_append_conflict_total", "Appends refused because the object's position on the log was another."),
		appendErrors: counter("jaque_engine_append_errors_total", "Appends that failed otherwise and are tried again."),
		epochBehind: counter("jaque_engine_epoch_behind_total",
			"Waits because a newer epoch was seen for an owned object before the membership view caught up."),
		notOwned: counter("jaque_engine_not_owned_total", "Commands dropped because no owner was found after one hop."),
		forwarded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_engine_commands_forwarded_total", Help: "Commands forwarded to the engine that owns the object, by outcome.",
		}, []string{"outcome"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_engine_commands_refused_total", Help: "Commands and results that were refused, by reason.",
		}, []string{"reason"}),
		shed:             counter("jaque_engine_commands_shed_total", "Commands refused because too many waited for one object."),
		decided:          counter("jaque_engine_decisions_total", "Decisions and measurements that were read back from the log."),
		lostMeasurements: counter("jaque_engine_lost_measurements_total", "Measurements beside a decision that could not be recorded; the decision is on the log."),
		lostDecisions:    counter("jaque_engine_lost_decisions_total", "Results and other decisions that were dropped because their object had gone to another engine meanwhile."),
		snapshotErrors:   counter("jaque_engine_snapshot_errors_total", "Snapshots that could not be saved."),
		snapshotTime: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_engine_snapshot_timestamp_seconds", Help: "When the folded state was last saved.",
		}),
		reloadPause: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_engine_reload_pause_seconds", Help: "How long the last reload kept the check loop from starting checks.",
		}),
	}
	m.operatorMetrics()
	m.handoverMetrics(reg)
	for _, k := range []object.CheckKind{
		object.CheckPlugin, object.CheckHTTP, object.CheckTCP, object.CheckICMP, object.CheckDNS,
		object.CheckTLS, object.CheckDummy, object.CheckAggregate,
	} {
		m.checks.WithLabelValues(string(k))
	}
	m.forwarded.WithLabelValues("sent")
	m.forwarded.WithLabelValues("error")
	reg.MustRegister(m.checks, m.lateness, m.conflicts, m.appendErrors, m.epochBehind, m.notOwned, m.forwarded,
		m.refused, m.shed, m.decided, m.lostMeasurements, m.lostDecisions, m.snapshotErrors, m.snapshotTime, m.reloadPause,
		m.commands, m.blocked, m.ticks, m.missed, m.tickLateness)
	m.registerViews(reg, e)
	m.registerProgram(reg, e)
	return m
}

// registerViews registers what is read from elsewhere when it is asked for.
func (m *metrics) registerViews(reg prometheus.Registerer, e *Engine) {
	gauge := func(name, help string, f func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
	}
	count := func(name, help string, o fold.Outcome) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(e.proj.Outcome(o)) }))
	}
	count("jaque_engine_stale_epoch_total",
		"Events discarded because their epoch is older than the last one folded for the object.", fold.Stale)
	count("jaque_engine_fold_conflict_total", "Events discarded because they were decided on another base.", fold.Conflict)
	count("jaque_engine_unknown_events_total", "Events left alone because this build does not know their kind or shape.", fold.Unknown)
	gauge("jaque_engine_running_checks", "Checks being executed.", func() float64 { return float64(m.runningChecks.Load()) })
	gauge("jaque_engine_waiting_checks", "Checks that are due and wait for a place.", func() float64 { return float64(m.waitingChecks.Load()) })
	gauge("jaque_engine_waiting_commands", "Commands accepted and not yet decided.", func() float64 { return float64(len(e.places)) })
	gauge("jaque_engine_oldest_append_seconds", "How long the oldest decision has waited to come back from the log, since it was first sent; 0 = none waits.",
		func() float64 { return e.waited().Seconds() })
	gauge("jaque_engine_epoch", "Epoch of the membership view.", func() float64 { return float64(e.View().Epoch) })
	gauge("jaque_engine_members", "Engines in the membership view.", func() float64 { return float64(len(e.View().Members)) })
	gauge("jaque_engine_owned_objects", "Objects that this engine owns and has scheduled.", func() float64 { return float64(e.owned.Load()) })
	gauge("jaque_engine_objects", "Objects of the running config generation.", func() float64 { return float64(len(e.proj.Set().Objects)) })
	gauge("jaque_log_newest_event_timestamp_seconds", "Time of the newest folded event.",
		func() float64 { return float64(e.proj.Newest()) / 1000 })
}

// handoverMetrics makes what tells how long objects went without an owner.
func (m *metrics) handoverMetrics(reg prometheus.Registerer) {
	m.handover = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "jaque_engine_handover_seconds", Help: "Time from when a view was adopted that gave an object to this engine until the object was in its schedule.",
		Buckets: []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10},
	})
	m.handoverGap = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "jaque_engine_handover_gap_seconds", Help: "How long the check of an object was overdue when it was taken over; only of those that were.",
		Buckets: []float64{.01, .1, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300},
	})
	reg.MustRegister(m.handover, m.handoverGap)
}

// refuse counts a refusal by its reason.
func (m *metrics) refuse(err error) {
	why := "other"
	if r := (*fold.Refusal)(nil); errors.As(err, &r) {
		why = string(r.Reason)
	}
	m.refused.WithLabelValues(why).Inc()
}

// operatorMetrics makes what tells about commands and about what they left behind.
func (m *metrics) operatorMetrics() {
	m.commands = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jaque_engine_commands_total", Help: "Commands of operators that were decided, by outcome.",
	}, []string{"outcome"})
	for _, outcome := range []string{"done", "refused", "not_found", "busy", "failed"} {
		m.commands.WithLabelValues(outcome)
	}
	for _, why := range []fold.Reason{
		fold.BadState, fold.BadCommand, fold.PassiveOff, fold.Behind, fold.NoProblem, fold.TooMany, fold.Late, fold.Duplicate, "other",
	} {
		m.refused.WithLabelValues(string(why))
	}
	m.blocked = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jaque_engine_checks_not_run_total", Help: "Due checks that did not run, by what forbade them.",
	}, []string{"reason"})
	for _, why := range []fold.Block{fold.BlockSwitch, fold.BlockPeriod, fold.BlockDependency} {
		m.blocked.WithLabelValues(string(why))
	}
	m.missed = counter("jaque_engine_notifications_missed_total", "Notifications of problems whose messages were all given up, so that people are told again.")
	m.ticks = counter("jaque_engine_ticks_total", "Times at which a downtime started or ended, or something expired.")
	m.tickLateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "jaque_engine_tick_lateness_seconds", Help: "Time from when a downtime or an expiry was due to its decision.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30},
	})
}

// programSwitches are the program-wide switches by the value of their label;
// constant.
var programSwitches = []struct {
	name string
	bit  object.Program
}{
	{"host_checks", object.ProgramHostChecks},
	{"service_checks", object.ProgramServiceChecks},
	{"passive_host_checks", object.ProgramPassiveHosts},
	{"passive_service_checks", object.ProgramPassiveServices},
	{"notifications", object.ProgramNotifications},
	{"event_handlers", object.ProgramEventHandlers},
	{"flap_detection", object.ProgramFlapDetection},
	{"perfdata", object.ProgramPerfdata},
	{"host_freshness", object.ProgramHostFreshness},
	{"service_freshness", object.ProgramServiceFreshness},
	{"obsess_hosts", object.ProgramObsessHosts},
	{"obsess_services", object.ProgramObsessServices},
}

// registerProgram registers what operators have set and put.
func (m *metrics) registerProgram(reg prometheus.Registerer, e *Engine) {
	for _, sw := range programSwitches {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "jaque_program_switch", Help: "1 if something is switched on for the whole program, else 0.",
			ConstLabels: prometheus.Labels{"switch": sw.name},
		}, func() float64 {
			if object.Program(m.program.Load()).Has(sw.bit) {
				return 1
			}
			return 0
		}))
	}
	gauge := func(name, help string, f func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
	}
	gauge("jaque_objects_in_downtime", "Objects in a downtime of their own.", func() float64 { return float64(e.proj.Counts().InDowntime) })
	gauge("jaque_objects_acknowledged", "Objects with an acknowledged problem.", func() float64 { return float64(e.proj.Counts().Acknowledged) })
	gauge("jaque_downtime_rules", "Downtimes for many objects or many times.", func() float64 { return float64(len(e.proj.Program().Rules)) })
}

// latencies keeps the lateness of the last checks for the status page.
type latencies struct {
	mu   sync.Mutex
	ring [1024]float64
	n    int
}

func (l *latencies) add(v float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring[l.n%len(l.ring)] = v
	l.n++
}

func (l *latencies) percentiles() Latency {
	l.mu.Lock()
	sorted := slices.Clone(l.ring[:min(l.n, len(l.ring))])
	l.mu.Unlock()
	n := len(sorted)
	if n == 0 {
		return Latency{}
	}
	slices.Sort(sorted)
	return Latency{P50: sorted[n/2], P95: sorted[n*95/100], P99: sorted[n*99/100], Max: sorted[n-1]}
}
