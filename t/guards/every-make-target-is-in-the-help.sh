# SPDX-License-Identifier: Apache-2.0
# `make help` names every target that a contributor calls, and each target that it names exists.
. "${srcdir:-.}/t/guards/guard.sh"

# Of automake; and those that other targets call.
makefiles | sed -n '/^\.PHONY:/,/[^\\]$/p; /^STAGE_CHECKS =/p' | grep -oE '\b[a-z]+(-[a-z]+)*\b' | list "all targets"
printf '%s\n' check distcheck install | cat - "$(file_of "all targets")" | list "targets"
grep -vxE 'bench-programs|fuzz-targets|help' "$(file_of "targets")" | list "targets of contributors"
sed -n 's/^  make \([a-z-][a-z-]*\) .*/\1/p' scripts/make-help | list "make help"

all_in "targets of contributors" "make help" "Makefile.am has this target, but scripts/make-help does not name it"
all_in "make help" "targets of contributors" "scripts/make-help names this target, but Makefile.am does not have it"
guard_end
