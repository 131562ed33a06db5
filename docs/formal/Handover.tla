------------------------------ MODULE Handover ------------------------------
(***************************************************************************)
(* How several engines that share one ordered log hand objects over to     *)
(* each other.                                                             *)
(*                                                                         *)
(* An event is identified by its position in the log, and the state of an  *)
(* object is the sequence of the positions that were folded into it. Every *)
(* real fold is a function of that sequence, so nothing about results of   *)
(* checks is modelled, and a disagreement shows at once.                   *)
(*                                                                         *)
(* The constants choose the variant of the protocol; each configuration    *)
(* beside this file chooses one and says in its first line what must come  *)
(* out.                                                                    *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Engines,     \* a set of numbers; the smallest is the only member at the start
    Objects,     \* a set of numbers
    MaxEvents,   \* bound on events in the log and in flight together
    MaxViews,    \* bound on view records ever published, the first one included
    Atomic,      \* TRUE: deciding, appending and learning the position are one step
    Ghosts,      \* TRUE: an append may outlive its timeout and its writer
    OwnState,    \* "log": an own event counts at its place in the log, "ack": at its ack
    OwnFence,    \* TRUE: an own event passes rule 1 at its ack as well
    Skip,        \* what is not folded from the log: "none", "owned" (what I own),
                 \* "writer" (my id wrote it), "run" (my id in this process run wrote it),
                 \* "position" (what the ack has applied already)
    Stale,       \* rule 1: "none", "view" (older than my view), "fence" (older than a folded event)
    Behind,      \* rule 3: TRUE: who has seen a newer epoch than its view's does not write
    Prev,        \* TRUE: events carry prev; FALSE where nothing reads it, which saves states
    Delta,       \* TRUE: an event adds to the state, FALSE: it replaces the state
    ServerCheck, \* TRUE: an append is a compare-and-set on the object's subject
    FoldCheck,   \* the fold compares prev: "none", "keep" (a refused event leaves the
                 \* fence alone), "raise" (a refused event raises the fence)
    Bump,        \* TRUE: every registration is a new epoch
    Split,       \* TRUE: epoch and members of a view can be seen apart
    Reset,       \* TRUE: the store may lose its content once
    Floor,       \* where a registration's epoch starts: "none", "log" (above what
                 \* it read), "clock" (above all that was ever issued)
    Repair       \* TRUE: RepairEpoch is taken

VARIABLES
    log,     \* the log: a sequence of events
    views,   \* every view record ever published, the last one is the store's
    net,     \* the appends in flight: a set of messages
    up,      \* up[e]: the process runs
    cut,     \* cut[e]: it does not reach the store: partition, pause, lost heartbeats
    run,     \* run[e]: number of the process run, counted only when Skip = "run"
    view,    \* view[e]: index of the record whose epoch e acts on, 0 = none
    known,   \* known[e]: index of the record whose members e acts on; view[e] unless Split
    pos,     \* pos[e]: last position of the log that e consumed
    st,      \* st[e][o]: what e holds of o: folded positions and newest epoch
    acked    \* acked[e][o]: position learned from the ack of the latest own append

vars == <<log, views, net, up, cut, run, view, known, pos, st, acked>>
store == <<views>>
volatile == <<run, view, known, pos, st, acked>>

-----------------------------------------------------------------------------
(* Arithmetic *)

Max(a, b) == IF a >= b THEN a ELSE b
Last(s) == IF s = <<>> THEN 0 ELSE s[Len(s)]
Highest(s) == CHOOSE m \in s : \A n \in s : n <= m
Lowest(s) == CHOOSE m \in s : \A n \in s : m <= n

\* Rendezvous hashing is a fixed order of the engines for each object: here the
\* highest number first for odd objects, the lowest first for even ones. No
\* member, no owner: 0.
Owner(o, members) ==
    IF members = {} THEN 0
    ELSE IF o % 2 = 1 THEN Highest(members) ELSE Lowest(members)

Store == views[Len(views)]
Epoch(e) == IF view[e] = 0 THEN 0 ELSE views[view[e]].epoch
Members(e) == IF known[e] = 0 THEN {} ELSE views[known[e]].members
Owns(e, o) == Owner(o, Members(e)) = e
Current(e) == view[e] = Len(views) /\ known[e] = Len(views)

-----------------------------------------------------------------------------
(* The fold *)

Empty == [hist |-> <<>>, fence |-> 0]

\* Taken is the state after event ev at position p took effect.
Taken(r, ev, p) ==
    [hist  |-> IF Delta THEN Append(r.hist, p) ELSE <<p>>,
     fence |-> Max(r.fence, ev.epoch)]

IsStale(r, ev) == Stale = "fence" /\ ev.epoch < r.fence
IsConflict(r, ev) == FoldCheck # "none" /\ ev.prev # Last(r.hist)

Fold(r, ev, p) ==
    IF IsStale(r, ev) THEN r
    ELSE IF IsConflict(r, ev)
         THEN IF FoldCheck = "raise" THEN [r EXCEPT !.fence = ev.epoch] ELSE r
         ELSE Taken(r, ev, p)

\* Replay is what the fold makes of the first k positions, for one object.
RECURSIVE Replay(_, _)
Replay(o, k) ==
    IF k = 0 THEN Empty
    ELSE IF log[k].obj = o THEN Fold(Replay(o, k - 1), log[k], k)
         ELSE Replay(o, k - 1)

\* LastOf is the last of the first k positions that holds an event of o,
\* accepted or not; 0 = none.
RECURSIVE LastOf(_, _)
LastOf(o, k) == IF k = 0 THEN 0 ELSE IF log[k].obj = o THEN k ELSE LastOf(o, k - 1)

-----------------------------------------------------------------------------
(* Processes *)

Nothing == [o \in Objects |-> Empty]
NoAck == [o \in Objects |-> 0]

Init ==
    /\ log = <<>>
    /\ views = <<[epoch |-> 1, members |-> {Lowest(Engines)}]>>
    /\ net = {}
    /\ up = [e \in Engines |-> e = Lowest(Engines)]
    /\ cut = [e \in Engines |-> FALSE]
    /\ run = [e \in Engines |-> 0]
    /\ view = [e \in Engines |-> IF e = Lowest(Engines) THEN 1 ELSE 0]
    /\ known = view
    /\ pos = [e \in Engines |-> 0]
    /\ st = [e \in Engines |-> Nothing]
    /\ acked = [e \in Engines |-> NoAck]

\* Start replays the log at once: replaying is a local function of a prefix that
\* nobody changes, so it commutes with every other step.
Start(e) ==
    /\ ~up[e]
    /\ up' = [up EXCEPT ![e] = TRUE]
    /\ pos' = [pos EXCEPT ![e] = Len(log)]
    /\ st' = [st EXCEPT ![e] = [o \in Objects |-> Replay(o, Len(log))]]
    /\ UNCHANGED <<log, views, net, cut, run, view, known, acked>>

\* Crash also stands for the exit of an engine whose heartbeats fail for a TTL.
\* Nothing volatile survives; the engine's appends in flight become ghosts.
Crash(e) ==
    /\ up[e]
    /\ up' = [up EXCEPT ![e] = FALSE]
    /\ cut' = [cut EXCEPT ![e] = FALSE]
    /\ run' = [run EXCEPT ![e] = IF Skip = "run" THEN @ + 1 ELSE 0]
    /\ view' = [view EXCEPT ![e] = 0]
    /\ known' = [known EXCEPT ![e] = 0]
    /\ pos' = [pos EXCEPT ![e] = 0]
    /\ st' = [st EXCEPT ![e] = Nothing]
    /\ acked' = [acked EXCEPT ![e] = NoAck]
    /\ net' = IF Ghosts
              THEN {[m EXCEPT !.waits = @ /\ m.writer # e] : m \in net}
              ELSE {m \in net : m.writer # e}
    /\ UNCHANGED <<log, views>>

\* A cut engine does not reach the store; it may still reach the log. Cut from
\* both is a cut during which no step of the log happens.
Cut(e) ==
    /\ up[e] /\ ~cut[e]
    /\ cut' = [cut EXCEPT ![e] = TRUE]
    /\ UNCHANGED <<log, net, up, store, volatile>>

Heal(e) ==
    /\ cut[e]
    /\ cut' = [cut EXCEPT ![e] = FALSE]
    /\ UNCHANGED <<log, net, up, store, volatile>>

-----------------------------------------------------------------------------
(* Membership *)

Reaches(e) == up[e] /\ ~cut[e]

Publish(epoch, members) ==
    /\ Len(views) < MaxViews
    /\ views' = Append(views, [epoch |-> epoch, members |-> members])

Adopt(e, i) ==
    /\ view' = [view EXCEPT ![e] = i]
    /\ known' = [known EXCEPT ![e] = i]

\* The epoch of a registration: one more than the store's, and than the floor.
NextEpoch(e) ==
    LET seen == IF Floor = "log" THEN {log[p].epoch : p \in 1..pos[e]}
                ELSE IF Floor = "clock" THEN {views[i].epoch : i \in 1..Len(views)}
                ELSE {}
    IN  1 + Highest(seen \cup {Store.epoch})

\* A process that is started again while the record still lists its id takes the
\* record as it is, or publishes a new epoch, see Bump.
Register(e) ==
    /\ Reaches(e)
    /\ IF e \in Store.members /\ ~Bump
       THEN /\ view[e] = 0
            /\ Adopt(e, Len(views))
            /\ views' = views
       ELSE /\ e \notin Store.members \/ view[e] = 0
            /\ Publish(NextEpoch(e), Store.members \cup {e})
            /\ Adopt(e, Len(views) + 1)
    /\ UNCHANGED <<log, net, up, cut, run, pos, st, acked>>

\* An engine that registered and reaches the store finds that the heartbeat key of
\* m is gone. It need not be a member any more, nor know the current view.
Expire(m) ==
    /\ m \in Store.members
    /\ ~Reaches(m)
    /\ \E e \in Engines \ {m} : Reaches(e) /\ view[e] # 0
    /\ Publish(Store.epoch + 1, Store.members \ {m})
    /\ UNCHANGED <<log, net, up, cut, volatile>>

\* Intermediate records may be skipped; a record without the engine is adopted
\* too and leaves it without objects.
AdoptView(e) ==
    /\ Reaches(e)
    /\ view[e] # 0
    /\ IF Split
       THEN \/ \E i \in view[e] + 1 .. Len(views) :
                  view' = [view EXCEPT ![e] = i] /\ known' = known
            \/ \E i \in known[e] + 1 .. Len(views) :
                  known' = [known EXCEPT ![e] = i] /\ view' = view
       ELSE \E i \in view[e] + 1 .. Len(views) : Adopt(e, i)
    /\ UNCHANGED <<log, views, net, up, cut, run, pos, st, acked>>

\* The log holds a newer epoch than the store's current view: the epoch is raised
\* above it, with the same members.
RepairEpoch(e) ==
    /\ Repair
    /\ Reaches(e) /\ Current(e)
    /\ \E o \in Objects : st[e][o].fence > Epoch(e)
    /\ Publish(1 + Highest({st[e][o].fence : o \in Objects}), Store.members)
    /\ Adopt(e, Len(views) + 1)
    /\ UNCHANGED <<log, net, up, cut, run, pos, st, acked>>

\* The store is lost: a record without members under epoch 0, once.
StoreReset ==
    /\ Reset
    /\ \A i \in 1..Len(views) : views[i].epoch # 0
    /\ Publish(0, {})
    /\ UNCHANGED <<log, net, up, cut, volatile>>

-----------------------------------------------------------------------------
(* Writes *)

Pending(e, o) == \E m \in net : m.waits /\ m.writer = e /\ m.obj = o

\* The guard of a write, without the bound of the model.
MayWrite(e, o) ==
    /\ up[e]
    /\ view[e] # 0
    /\ Owns(e, o)
    /\ Behind => st[e][o].fence <= Epoch(e)
    /\ ~Pending(e, o)
    /\ pos[e] >= acked[e][o] \/ OwnState = "ack"

Event(e, o) ==
    [obj |-> o, epoch |-> Epoch(e), writer |-> e, run |-> run[e],
     prev |-> IF Prev THEN Last(st[e][o].hist) ELSE 0]

\* An own event takes effect at its ack.
AtAck(e, ev, p) ==
    LET r == st[e][ev.obj]
    IN  IF OwnState = "log" \/ (OwnFence /\ IsStale(r, ev)) THEN st
        ELSE [st EXCEPT ![e][ev.obj] = Taken(r, ev, p)]

\* Positions of acks are kept only where something reads them.
Learned(e, o, p) ==
    IF OwnState = "log" \/ Skip = "position"
    THEN [acked EXCEPT ![e][o] = p] ELSE acked

\* The last position of o's subject that e knows of: what it expects there.
Expected(e, o) == IF ServerCheck THEN Max(LastOf(o, pos[e]), acked[e][o]) ELSE 0

Write(e, o) ==
    /\ Atomic
    /\ MayWrite(e, o)
    /\ Len(log) < MaxEvents
    /\ log' = Append(log, Event(e, o))
    /\ st' = AtAck(e, Event(e, o), Len(log) + 1)
    /\ UNCHANGED <<net, up, cut, run, view, known, pos, acked, store>>

Decide(e, o) ==
    /\ ~Atomic
    /\ MayWrite(e, o)
    /\ Len(log) + Cardinality(net) < MaxEvents
    /\ net' = net \cup {[ev |-> Event(e, o), obj |-> o, writer |-> e,
                         expects |-> Expected(e, o), waits |-> TRUE]}
    /\ UNCHANGED <<log, up, cut, store, volatile>>

\* The server appends or refuses, and the writer learns it if it still waits.
\* Refused, the writer drops the decision; it may decide again from what it holds.
Land(m) ==
    /\ net' = net \ {m}
    /\ IF ServerCheck /\ m.expects # LastOf(m.obj, Len(log))
       THEN UNCHANGED <<log, st, acked>>
       ELSE /\ log' = Append(log, m.ev)
            /\ st' = IF m.waits THEN AtAck(m.writer, m.ev, Len(log) + 1) ELSE st
            /\ acked' = IF m.waits THEN Learned(m.writer, m.obj, Len(log) + 1) ELSE acked
    /\ UNCHANGED <<up, cut, run, view, known, pos, store>>

\* The writer gives up waiting; the append may land all the same.
Timeout(m) ==
    /\ Ghosts
    /\ m.waits
    /\ net' = (net \ {m}) \cup {[m EXCEPT !.waits = FALSE]}
    /\ UNCHANGED <<log, up, cut, store, volatile>>

Lose(m) ==
    /\ Ghosts
    /\ ~m.waits
    /\ net' = net \ {m}
    /\ UNCHANGED <<log, up, cut, store, volatile>>

-----------------------------------------------------------------------------
(* Reading the log *)

Skips(e, ev, p) ==
    \/ Skip = "owned" /\ Owns(e, ev.obj)
    \/ Skip = "writer" /\ ev.writer = e
    \/ Skip = "run" /\ ev.writer = e /\ ev.run = run[e]
    \/ Skip = "position" /\ p <= acked[e][ev.obj]

Consume(e) ==
    /\ up[e]
    /\ pos[e] < Len(log)
    /\ LET p == pos[e] + 1
           ev == log[p]
       IN  /\ pos' = [pos EXCEPT ![e] = p]
           /\ st' = IF Skips(e, ev, p) \/ (Stale = "view" /\ ev.epoch < Epoch(e)) THEN st
                    ELSE [st EXCEPT ![e][ev.obj] = Fold(@, ev, p)]
    /\ UNCHANGED <<log, net, up, cut, run, view, known, acked, store>>

-----------------------------------------------------------------------------

Next ==
    \/ \E e \in Engines : Start(e)
    \/ \E e \in Engines : Crash(e)
    \/ \E e \in Engines : Cut(e)
    \/ \E e \in Engines : Heal(e)
    \/ \E e \in Engines : Register(e)
    \/ \E e \in Engines : Expire(e)
    \/ \E e \in Engines : AdoptView(e)
    \/ \E e \in Engines : RepairEpoch(e)
    \/ StoreReset
    \/ \E e \in Engines, o \in Objects : Write(e, o)
    \/ \E e \in Engines, o \in Objects : Decide(e, o)
    \/ \E m \in net : Land(m)
    \/ \E m \in net : Timeout(m)
    \/ \E m \in net : Lose(m)
    \/ \E e \in Engines : Consume(e)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Safety *)

AtEnd(e) == up[e] /\ pos[e] = Len(log)

\* Published: two running engines whose view is current and whose tail is at the
\* end of the log hold the same state of every object.
Agree ==
    \A e, f \in Engines :
        (AtEnd(e) /\ Current(e) /\ AtEnd(f) /\ Current(f)) =>
            \A o \in Objects : st[e][o].hist = st[f][o].hist

\* An engine at the end of the log holds what a replay of the log yields.
Truth ==
    \A e \in Engines : AtEnd(e) =>
        \A o \in Objects : st[e][o].hist = Replay(o, Len(log)).hist

\* An engine holds the fold of what it read, at every position.
PrefixFold ==
    \A e \in Engines : up[e] => \A o \in Objects : st[e][o] = Replay(o, pos[e])

\* The event at position p is accepted by a replay.
Accepted(p) == Last(Replay(log[p].obj, p).hist) = p

\* An accepted event was decided on the accepted event right before it.
Linear ==
    \A p \in 1..Len(log) :
        Accepted(p) => log[p].prev = Last(Replay(log[p].obj, p - 1).hist)

\* One object and one epoch have one writer.
OneWriter ==
    \A p, q \in 1..Len(log) :
        (log[p].obj = log[q].obj /\ log[p].epoch = log[q].epoch)
            => log[p].writer = log[q].writer

\* Epochs do not decrease along an object's subject.
MonoEpoch ==
    \A p, q \in 1..Len(log) :
        (p < q /\ log[p].obj = log[q].obj) => log[p].epoch <= log[q].epoch

\* The same two among the accepted events.
OneWriterAccepted ==
    \A p, q \in 1..Len(log) :
        (Accepted(p) /\ Accepted(q) /\ log[p].obj = log[q].obj /\ log[p].epoch = log[q].epoch)
            => log[p].writer = log[q].writer

MonoEpochAccepted ==
    \A p, q \in 1..Len(log) :
        (p < q /\ Accepted(p) /\ Accepted(q) /\ log[p].obj = log[q].obj)
            => log[p].epoch <= log[q].epoch

\* An event behind a newer epoch's event of its object is discarded by a replay,
\* and by PrefixFold by everybody.
StaleDiscarded ==
    \A p, q \in 1..Len(log) :
        (p < q /\ log[p].obj = log[q].obj /\ log[q].epoch < log[p].epoch)
            => ~Accepted(q)

-----------------------------------------------------------------------------
(* Liveness *)

\* The network is fair to each writer: an isolated engine that decides and gives up
\* for ever must not keep the append of another one from ever landing.
Fairness ==
    /\ \A e \in Engines : WF_vars(Register(e))
    /\ \A e \in Engines : WF_vars(AdoptView(e))
    /\ \A e \in Engines : WF_vars(Consume(e))
    /\ \A e \in Engines : WF_vars(RepairEpoch(e))
    /\ WF_vars(\E e \in Engines : Expire(e))
    /\ \A e \in Engines : WF_vars(\E m \in net : m.writer = e /\ (Land(m) \/ Lose(m)))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

Exactly(s) == \A e \in Engines : Reaches(e) <=> e \in s
Writable(o) == \E e \in Engines : Current(e) /\ MayWrite(e, o)
Exhausted == Len(views) = MaxViews

\* If from some point on a fixed set of engines, not empty, runs and reaches the
\* store, every object has again and again a current engine that may write it.
\* Runs that used up the bound on views are exempt.
NeverStuck ==
    \A s \in (SUBSET Engines) \ {{}} :
        <>[]Exactly(s) =>
            (<>[]Exhausted \/ \A o \in Objects : []<>Writable(o))

=============================================================================
