// Package cluster makes appliances on several machines members of one cluster: what a
// member keeps in its data folder, the token with which a further one joins, and the
// conversation in which it does.
//
// It owns the folder cluster below the data folder: the cluster's own certificate
// authority, by which members know each other, the settings of this member, and the
// tokens that are not used yet. It never peers servers and keeps no replicas; that is
// appliance/bus. Start reading at Found and Join.
package cluster
