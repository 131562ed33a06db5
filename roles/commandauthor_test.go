package roles

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/operate"
)

func TestWhatNamesNobodyIsByTheCommandFile(t *testing.T) {
	for line, want := range map[string]string{
		"DISABLE_HOST_CHECK;web01":                    "Author:command file",
		"DISABLE_HOST_CHECK;web01;ada;broken":         "Author:ada",
		"DISABLE_NOTIFICATIONS":                       "Author:command file",
		"CHANGE_MAX_HOST_CHECK_ATTEMPTS;web01;7":      "Author:command file",
		"CHANGE_HOST_MODATTR;web01;0":                 "Author:command file",
		"SCHEDULE_FORCED_HOST_CHECK;web01;1800000000": "Author:command file",
		"REMOVE_HOST_ACKNOWLEDGEMENT;web01":           "{Author:command file}",
		"DEL_ALL_HOST_COMMENTS;web01":                 "Author:command file",
		"DELAY_HOST_NOTIFICATION;web01;1900000000":    "Author:command file",
		"ADD_HOST_COMMENT;web01;1;ada;a word":         "Author:ada",
		"CLEAR_HOST_FLAPPING_STATE;web01":             "{Author:command file}",
		"SET_HOST_NOTIFICATION_NUMBER;web01;1":        "Author:command file",
	} {
		t.Run(line, func(t *testing.T) {
			x := take(t)
			var got []string
			do := x.do
			x.do = func(ctx context.Context, all []operate.Action) (operate.Report, error) {
				for _, a := range all {
					got = append(got, fmt.Sprintf("%+v %+v", a.Command, a.Program))
				}
				return do(ctx, all)
			}
			x.handle(t.Context(), lines("[1800000000] "+line))
			if len(got) == 0 || !strings.Contains(got[0], want) {
				t.Errorf("got %q, want %s\n%s", got, want, &x.log)
			}
		})
	}
}
