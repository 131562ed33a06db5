package external

import "jaque.sh/jaque/appliance/core/object"

// hostGroupRows are the commands about the hosts of a group and their services.
func hostGroupRows() []row {
	g := []kind{aHostGroup}
	sw := func(on, off, text string, of scope, what object.Switches) []row {
		return pair(on, off, g, true, text+" in a hostgroup", switching(of, what))
	}
	return join(
		sw("ENABLE_HOSTGROUP_HOST_CHECKS", "DISABLE_HOSTGROUP_HOST_CHECKS", "active checks of the hosts", hostsOfHostGroup, object.SwitchActive),
		sw("ENABLE_HOSTGROUP_PASSIVE_HOST_CHECKS", "DISABLE_HOSTGROUP_PASSIVE_HOST_CHECKS", "submitted results of the hosts", hostsOfHostGroup, object.SwitchPassive),
		sw("ENABLE_HOSTGROUP_HOST_NOTIFICATIONS", "DISABLE_HOSTGROUP_HOST_NOTIFICATIONS", "notifications of the hosts", hostsOfHostGroup, object.SwitchNotifications),
		sw("ENABLE_HOSTGROUP_SVC_CHECKS", "DISABLE_HOSTGROUP_SVC_CHECKS", "active checks of the services of the hosts", servicesOfHostGroup, object.SwitchActive),
		sw("ENABLE_HOSTGROUP_PASSIVE_SVC_CHECKS", "DISABLE_HOSTGROUP_PASSIVE_SVC_CHECKS", "submitted results of the services of the hosts", servicesOfHostGroup, object.SwitchPassive),
		sw("ENABLE_HOSTGROUP_SVC_NOTIFICATIONS", "DISABLE_HOSTGROUP_SVC_NOTIFICATIONS", "notifications of the services of the hosts", servicesOfHostGroup, object.SwitchNotifications),
		[]row{
			{name: "SCHEDULE_HOSTGROUP_HOST_DOWNTIME", args: downtimeArgs(aHostGroup), text: "Schedules a downtime for each host that is in a hostgroup now.", do: downtimes(hostsOfHostGroup)},
			{name: "SCHEDULE_HOSTGROUP_SVC_DOWNTIME", args: downtimeArgs(aHostGroup), text: "Schedules a downtime for each service of the hosts that are in a hostgroup now.", do: downtimes(servicesOfHostGroup)},
		},
	)
}

// serviceGroupRows are the commands about the services of a group and their hosts.
func serviceGroupRows() []row {
	g := []kind{aServiceGroup}
	sw := func(on, off, text string, of scope, what object.Switches) []row {
		return pair(on, off, g, true, text+" in a servicegroup", switching(of, what))
	}
	return join(
		sw("ENABLE_SERVICEGROUP_HOST_CHECKS", "DISABLE_SERVICEGROUP_HOST_CHECKS", "active checks of the hosts of the services", hostsOfServiceGroup, object.SwitchActive),
		sw("ENABLE_SERVICEGROUP_PASSIVE_HOST_CHECKS", "DISABLE_SERVICEGROUP_PASSIVE_HOST_CHECKS", "submitted results of the hosts of the services", hostsOfServiceGroup, object.SwitchPassive),
		sw("ENABLE_SERVICEGROUP_HOST_NOTIFICATIONS", "DISABLE_SERVICEGROUP_HOST_NOTIFICATIONS", "notifications of the hosts of the services", hostsOfServiceGroup, object.SwitchNotifications),
		sw("ENABLE_SERVICEGROUP_SVC_CHECKS", "DISABLE_SERVICEGROUP_SVC_CHECKS", "active checks of the services", servicesOfServiceGroup, object.SwitchActive),
		sw("ENABLE_SERVICEGROUP_PASSIVE_SVC_CHECKS", "DISABLE_SERVICEGROUP_PASSIVE_SVC_CHECKS", "submitted results of the services", servicesOfServiceGroup, object.SwitchPassive),
		sw("ENABLE_SERVICEGROUP_SVC_NOTIFICATIONS", "DISABLE_SERVICEGROUP_SVC_NOTIFICATIONS", "notifications of the services", servicesOfServiceGroup, object.SwitchNotifications),
		[]row{
			{name: "SCHEDULE_SERVICEGROUP_HOST_DOWNTIME", args: downtimeArgs(aServiceGroup), text: "Schedules a downtime for each host that has a service in a servicegroup now.", do: downtimes(hostsOfServiceGroup)},
			{name: "SCHEDULE_SERVICEGROUP_SVC_DOWNTIME", args: downtimeArgs(aServiceGroup), text: "Schedules a downtime for each service that is in a servicegroup now.", do: downtimes(servicesOfServiceGroup)},
		},
	)
}
