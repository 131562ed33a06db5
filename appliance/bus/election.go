package bus

import (
	"sync"
	"time"
	_ "unsafe" // for the names of the server's variables
)

// How soon members notice that a leader is gone, and how soon a leader that it has lost
// the others. The server's own times (a word every second, an election after 4 to 9 s, a
// look for the quorum every 10 s) are longer than what an engine may be without the log:
// its last heartbeat may be a third of the TTL old when a leader is killed, and at the end
// of the TTL it ends itself. The server has no options for them, but variables that its
// own tests set. A member that is stopped or starved for longer than electAfter stands for
// election when it wakes, which costs the others a moment without a leader; four words of
// the leader fit in.
const (
	leadEvery   = 300 * time.Millisecond // between two words of a leader
	electAfter  = 1200 * time.Millisecond
	electWithin = 2000 * time.Millisecond
	quorumLost  = 3 * time.Second // a leader that heard nothing of most others for so long leads no more
	quorumLook  = time.Second
)

//go:linkname serverLeadEvery github.com/nats-io/nats-server/v2/server.hbInterval
var serverLeadEvery time.Duration

//go:linkname serverElectAfter github.com/nats-io/nats-server/v2/server.minElectionTimeout
var serverElectAfter time.Duration

//go:linkname serverElectWithin github.com/nats-io/nats-server/v2/server.maxElectionTimeout
var serverElectWithin time.Duration

//go:linkname serverQuorumLost github.com/nats-io/nats-server/v2/server.lostQuorumInterval
var serverQuorumLost time.Duration

//go:linkname serverQuorumLook github.com/nats-io/nats-server/v2/server.lostQuorumCheck
var serverQuorumLook time.Duration

// electSooner is called in front of the first server of the process that is in a
// cluster: nothing reads the variables before.
var electSooner = sync.OnceFunc(func() {
	serverLeadEvery = leadEvery
	serverElectAfter, serverElectWithin = electAfter, electWithin
	serverQuorumLost, serverQuorumLook = quorumLost, quorumLook
})

// How often a member asks another one whether it is there, and how many questions may stay
// without an answer before the connection is given up and made anew. The server's own half
// minute leaves a connection standing that leads to a process which is dead, or stopped,
// and refuses the one that came back in its place.
const (
	routePing  = time.Second
	routePings = 3
)
