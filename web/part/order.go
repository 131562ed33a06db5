package part

// sorted returns the value of aria-sort for an order.
func sorted(order string) string {
	if order == "" {
		return "none"
	}
	return order
}

// arrow shows an order beside the head of its column.
func arrow(order string) string {
	switch order {
	case "ascending":
		return " ↑"
	case "descending":
		return " ↓"
	}
	return ""
}
