# SPDX-License-Identifier: Apache-2.0
# Every test is run and distributed: unit suites have their row in t/unit/unit.h, .t files lie in a family that t/Makefile.am names and
# end with finish() (which reads the error log), browser tests lie where npm test finds them.
. "${srcdir:-.}/t/guards/guard.sh"

find t/unit -name '*_test.c' | sed 's|.*/||; s|_test\.c$||' | list "unit tests"
grep -v '^ \*' t/unit/unit.h | grep -oE '\bSUITE\([a-z0-9_]+\)' | sed 's/.*(//; s/)//' | list "t/unit/unit.h"
all_in "unit tests" "t/unit/unit.h" "t/unit has NAME_test.c for this suite, but t/unit/unit.h has no SUITE row: it is never run"
all_in "t/unit/unit.h" "unit tests" "t/unit/unit.h has a SUITE row for this, but there is no t/unit/NAME_test.c"

find t -name '*.t' ! -path 't/run/*' ! -path '*/node_modules/*' | list "httpd tests"
sed 's|/[^/]*$||' "$(file_of "httpd tests")" | list "folders of httpd tests"
makefiles | sed -n 's/^HTTPD_TEST_FAMILIES *=//p' | tr ' ' '\n' | grep . | list "HTTPD_TEST_FAMILIES"
all_in "folders of httpd tests" "HTTPD_TEST_FAMILIES" "this folder has .t files, but HTTPD_TEST_FAMILIES in t/Makefile.am does not name it"
all_in "HTTPD_TEST_FAMILIES" "folders of httpd tests" "HTTPD_TEST_FAMILIES in t/Makefile.am names this folder, but it has no .t files"
makefiles | sed -n 's/^HTTPD_POLLS *=//p' | tr ' ' '\n' | grep . | list "HTTPD_POLLS"
all_in "HTTPD_POLLS" "HTTPD_TEST_FAMILIES" "HTTPD_POLLS in t/Makefile.am names this folder, but HTTPD_TEST_FAMILIES does not"
makefiles | sed -n 's/^UNIT_RACES *=//p' | tr ' ' '\n' | grep . | list "UNIT_RACES"
all_in "UNIT_RACES" "t/unit/unit.h" "UNIT_RACES in t/unit/Makefile.am names this suite, but t/unit/unit.h has no SUITE row for it: t/unit/others.sh does not leave it out"
xargs grep -lE '^finish\(' <"$(file_of "httpd tests")" | list "tests that finish"
all_in "httpd tests" "tests that finish" "this test does not end with finish(), which checks the error log"

find t/applications t/browser -maxdepth 1 -name '*.mjs' | xargs grep -lE '^ *(test|describe|it)\(' | list "browser tests"
find t/applications t/browser -maxdepth 1 -name '*.test.mjs' | list "browser tests that npm test finds"
all_in "browser tests" "browser tests that npm test finds" "this browser test is not named *.test.mjs: npm test does not find it"
makefiles | grep -E '^EXTRA_DIST' | tr ' ' '\n' | list "EXTRA_DIST"
printf '%s\n' t/applications t/browser | list "folders of browser tests"
all_in "folders of browser tests" "EXTRA_DIST" "EXTRA_DIST in t/Makefile.am does not name this folder"
guard_end
