------------------------------ MODULE Delivery ------------------------------
(***************************************************************************)
(* How several notifiers share the requests for notifications that stand   *)
(* in the log: who sends one, and what happens when membership changes or  *)
(* a notifier dies between a delivery and its outcome.                     *)
(*                                                                         *)
(* A request is an event that some engine wrote; how it got there is the   *)
(* matter of module Handover. Sending and recording the outcome are two    *)
(* steps, since they are two systems. Retries are not modelled: they stay  *)
(* with the notifier that sends.                                           *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Notifiers,   \* a set of numbers; the smallest is the only member at the start
    Requests,    \* a set of numbers
    MaxViews,    \* bound on view records ever published, the first one included
    MaxCrashes,  \* bound on crashes
    Cuts,        \* TRUE: a notifier may lose the store for a while, and expire
    Keep,        \* TRUE: a notifier keeps every open request, owned or not
    Barrier,     \* TRUE: a new view is acted on when the log has been read up to
                 \* its end at the adoption
    Claims       \* TRUE: a claim is appended and read back before sending

VARIABLES
    log,      \* a sequence of [kind, req, by, epoch]; kind "req", "claim" or "done"
    views,    \* every view record ever published, as sets; the epoch is the index
    up, cut,  \* the process runs; it does not reach the store
    view,     \* view[n]: epoch of the adopted view, 0 = none
    pos,      \* pos[n]: last position of the log that n consumed
    barrier,  \* barrier[n]: end of the log when n adopted its view
    dropped,  \* dropped[n]: requests that n, a member, forgot: they were not its own
    tried,    \* tried[n]: requests that this process run has sent
    sent,     \* sent[r]: deliveries of r, a count that no process can see
    crashes,  \* crashes so far
    since     \* since[r]: when r was written: [view, crashes], see Base

vars == <<log, views, up, cut, view, pos, barrier, dropped, tried, sent, crashes, since>>
ghosts == <<sent, crashes, since>>

-----------------------------------------------------------------------------

Highest(s) == CHOOSE m \in s : \A n \in s : n <= m
Lowest(s) == CHOOSE m \in s : \A n \in s : m <= n

\* Rendezvous hashing is a fixed order of the notifiers for each request.
Owner(r, members) ==
    IF members = {} THEN 0
    ELSE IF r % 2 = 1 THEN Highest(members) ELSE Lowest(members)

Store == views[Len(views)]
Reaches(n) == up[n] /\ ~cut[n]
Owns(n, r) == view[n] # 0 /\ Owner(r, views[view[n]]) = n

\* An event of this kind about r stands among the first k positions.
Stands(kind, r, k) == \E p \in 1..k : log[p].kind = kind /\ log[p].req = r
Asked(r) == Stands("req", r, Len(log))
Recorded(r) == Stands("done", r, Len(log))

Open(n, r) ==
    /\ Stands("req", r, pos[n]) /\ ~Stands("done", r, pos[n])
    /\ r \notin dropped[n]

\* The last position of r's requests and claims among the first k, 0 = none.
LastOf(r, k) ==
    LET ps == {p \in 1..k : log[p].kind # "done" /\ log[p].req = r}
    IN  IF ps = {} THEN 0 ELSE Highest(ps)

\* Who holds r as far as n has read: [by, epoch]; nobody is 0.
Holder(n, r) ==
    LET p == LastOf(r, pos[n])
    IN  IF p = 0 \/ log[p].kind = "req" THEN [by |-> 0, epoch |-> 0]
        ELSE [by |-> log[p].by, epoch |-> log[p].epoch]

Entry(kind, r, n, epoch) == [kind |-> kind, req |-> r, by |-> n, epoch |-> epoch]

\* What the bound on deliveries counts from: the oldest view that a running
\* member acts on, and the crashes before.
Base ==
    LET acted == {view[n] : n \in {m \in Notifiers : up[m] /\ view[m] # 0}}
    IN  [view |-> IF acted = {} THEN Len(views) ELSE Lowest(acted), crashes |-> crashes]

-----------------------------------------------------------------------------

Init ==
    /\ log = <<>>
    /\ views = <<{Lowest(Notifiers)}>>
    /\ up = [n \in Notifiers |-> n = Lowest(Notifiers)]
    /\ cut = [n \in Notifiers |-> FALSE]
    /\ view = [n \in Notifiers |-> IF n = Lowest(Notifiers) THEN 1 ELSE 0]
    /\ pos = [n \in Notifiers |-> 0]
    /\ barrier = [n \in Notifiers |-> 0]
    /\ dropped = [n \in Notifiers |-> {}]
    /\ tried = [n \in Notifiers |-> {}]
    /\ sent = [r \in Requests |-> 0]
    /\ crashes = 0
    /\ since = [r \in Requests |-> [view |-> 0, crashes |-> 0]]

Ask(r) ==
    /\ ~Asked(r)
    /\ log' = Append(log, Entry("req", r, 0, 0))
    /\ since' = [since EXCEPT ![r] = Base]
    /\ UNCHANGED <<views, up, cut, view, pos, barrier, dropped, tried, sent, crashes>>

\* The replay keeps what is open, whoever owns it: nobody has a view yet.
Start(n) ==
    /\ ~up[n]
    /\ up' = [up EXCEPT ![n] = TRUE]
    /\ pos' = [pos EXCEPT ![n] = Len(log)]
    /\ UNCHANGED <<log, views, cut, view, barrier, dropped, tried, ghosts>>

Crash(n) ==
    /\ up[n]
    /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ up' = [up EXCEPT ![n] = FALSE]
    /\ cut' = [cut EXCEPT ![n] = FALSE]
    /\ view' = [view EXCEPT ![n] = 0]
    /\ pos' = [pos EXCEPT ![n] = 0]
    /\ barrier' = [barrier EXCEPT ![n] = 0]
    /\ dropped' = [dropped EXCEPT ![n] = {}]
    /\ tried' = [tried EXCEPT ![n] = {}]
    /\ UNCHANGED <<log, views, sent, since>>

Cut(n) ==
    /\ Cuts
    /\ Reaches(n)
    /\ cut' = [cut EXCEPT ![n] = TRUE]
    /\ UNCHANGED <<log, views, up, view, pos, barrier, dropped, tried, ghosts>>

Heal(n) ==
    /\ cut[n]
    /\ cut' = [cut EXCEPT ![n] = FALSE]
    /\ UNCHANGED <<log, views, up, view, pos, barrier, dropped, tried, ghosts>>

-----------------------------------------------------------------------------

Publish(members) ==
    /\ Len(views) < MaxViews
    /\ views' = Append(views, members)

\* Adopting a view and reading the end of the log is one step: reading it later
\* only makes the barrier higher.
Adopt(n, i) ==
    /\ view' = [view EXCEPT ![n] = i]
    /\ barrier' = [barrier EXCEPT ![n] = IF Barrier THEN Len(log) ELSE 0]

Register(n) ==
    /\ Reaches(n)
    /\ IF n \in Store
       THEN /\ view[n] = 0
            /\ Adopt(n, Len(views))
            /\ views' = views
       ELSE /\ Publish(Store \cup {n})
            /\ Adopt(n, Len(views) + 1)
    /\ UNCHANGED <<log, up, cut, pos, dropped, tried, ghosts>>

Expire(m) ==
    /\ m \in Store
    /\ ~Reaches(m)
    /\ \E n \in Notifiers \ {m} : Reaches(n) /\ view[n] # 0
    /\ Publish(Store \ {m})
    /\ UNCHANGED <<log, up, cut, view, pos, barrier, dropped, tried, ghosts>>

AdoptView(n) ==
    /\ Reaches(n)
    /\ view[n] # 0
    /\ \E i \in view[n] + 1 .. Len(views) : Adopt(n, i)
    /\ UNCHANGED <<log, views, up, cut, pos, dropped, tried, ghosts>>

-----------------------------------------------------------------------------

Consume(n) ==
    /\ up[n]
    /\ pos[n] < Len(log)
    /\ pos' = [pos EXCEPT ![n] = @ + 1]
    /\ LET ev == log[pos[n] + 1]
       IN  dropped' = IF ~Keep /\ ev.kind = "req" /\ view[n] # 0 /\ ~Owns(n, ev.req)
                      THEN [dropped EXCEPT ![n] = @ \cup {ev.req}] ELSE dropped
    /\ UNCHANGED <<log, views, up, cut, view, barrier, tried, ghosts>>

\* n would send r, claims aside.
Due(n, r) ==
    /\ up[n]
    /\ Owns(n, r)
    /\ Open(n, r)
    /\ r \notin tried[n]
    /\ pos[n] >= barrier[n]

\* A claim is a compare-and-set on the request's subject. A claim made under an
\* older view may be replaced: its holder may be gone.
Claim(n, r) ==
    /\ Claims
    /\ Due(n, r)
    /\ LET h == Holder(n, r) IN h.by # n /\ h.epoch < view[n]
    /\ LastOf(r, pos[n]) = LastOf(r, Len(log))
    /\ log' = Append(log, Entry("claim", r, n, view[n]))
    /\ UNCHANGED <<views, up, cut, view, pos, barrier, dropped, tried, ghosts>>

Send(n, r) ==
    /\ Due(n, r)
    /\ Claims => Holder(n, r).by = n
    /\ tried' = [tried EXCEPT ![n] = @ \cup {r}]
    /\ sent' = [sent EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<log, views, up, cut, view, pos, barrier, dropped, crashes, since>>

\* An outcome is appended once, whoever tries: it expects an empty subject.
Record(n, r) ==
    /\ up[n]
    /\ r \in tried[n]
    /\ ~Recorded(r)
    /\ log' = Append(log, Entry("done", r, 0, 0))
    /\ UNCHANGED <<views, up, cut, view, pos, barrier, dropped, tried, ghosts>>

Next ==
    \/ \E r \in Requests : Ask(r)
    \/ \E n \in Notifiers : Start(n)
    \/ \E n \in Notifiers : Crash(n)
    \/ \E n \in Notifiers : Cut(n)
    \/ \E n \in Notifiers : Heal(n)
    \/ \E n \in Notifiers : Register(n)
    \/ \E n \in Notifiers : Expire(n)
    \/ \E n \in Notifiers : AdoptView(n)
    \/ \E n \in Notifiers : Consume(n)
    \/ \E n \in Notifiers, r \in Requests : Claim(n, r)
    \/ \E n \in Notifiers, r \in Requests : Send(n, r)
    \/ \E n \in Notifiers, r \in Requests : Record(n, r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Safety *)

\* One delivery, and one more for each crash and each change of membership while
\* the request was there.
DeliveryBound ==
    \A r \in Requests : Asked(r) =>
        sent[r] <= 1 + (crashes - since[r].crashes) + (Len(views) - since[r].view)

\* Deliveries are at most the process runs there were: none sends twice.
OncePerRun ==
    \A r \in Requests : sent[r] <= Cardinality(Notifiers) + crashes

\* What is recorded as delivered was delivered.
OutcomeMeansDelivery ==
    \A r \in Requests : Recorded(r) => sent[r] >= 1

\* No request is delivered twice. It does not hold: that is what to see.
NoSecond ==
    \A r \in Requests : sent[r] <= 1

-----------------------------------------------------------------------------
(* Liveness *)

Fairness ==
    /\ \A n \in Notifiers : WF_vars(Register(n))
    /\ \A n \in Notifiers : WF_vars(AdoptView(n))
    /\ \A n \in Notifiers : WF_vars(Consume(n))
    /\ \A n \in Notifiers, r \in Requests : WF_vars(Claim(n, r))
    /\ \A n \in Notifiers, r \in Requests : WF_vars(Send(n, r))
    /\ \A n \in Notifiers, r \in Requests : WF_vars(Record(n, r))
    /\ WF_vars(\E n \in Notifiers : Expire(n))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

\* The bound on views is used up before the record lists those who stay.
Blocked(s) == Len(views) = MaxViews /\ Store # s
Exactly(s) == \A n \in Notifiers : Reaches(n) <=> n \in s

\* If from some point on a fixed set of notifiers, not empty, runs and reaches
\* the store, every request is delivered.
NoneLost ==
    \A s \in (SUBSET Notifiers) \ {{}} :
        <>[]Exactly(s) =>
            (<>[]Blocked(s) \/ \A r \in Requests : []<>(Asked(r) => sent[r] > 0))

\* Under the same premise every request gets an outcome.
EveryOutcome ==
    \A s \in (SUBSET Notifiers) \ {{}} :
        <>[]Exactly(s) =>
            (<>[]Blocked(s) \/ \A r \in Requests : []<>(Asked(r) => Recorded(r)))

=============================================================================
