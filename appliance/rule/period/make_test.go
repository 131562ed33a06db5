package period_test

import "fmt"

// said makes one text of what a check found.
func said(words ...any) string { return fmt.Sprintln(words...) }
