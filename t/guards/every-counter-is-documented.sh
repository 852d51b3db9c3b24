# SPDX-License-Identifier: Apache-2.0
# Every figure of the status is in the table "All figures" of docs/operating.md, every figure that the database feed reports is in the table "What the status
# shows" of docs/feeds.md, and the other way round.
. "${srcdir:-.}/t/guards/guard.sh"

{
    grep -oE '^ +(COUNTER|GAUGE)\([a-z_]+, *"[A-Za-z]+"' mod_vault/shm/counters.h
    grep -oE '^ *\{"[A-Z][A-Za-z]+", "' mod_vault/admin/metrics_rows.c
} | grep -oE '"[A-Za-z]+"' | tr -d '"' | list "the source"
sed -n '/^### All figures/,/^##* [^#]/p' docs/operating.md | grep -oE '^\| `[A-Za-z]+`' | tr -d '|` ' | list "docs/operating.md"

all_in "the source" "docs/operating.md" "this figure is not in the table \"All figures\" of docs/operating.md"
all_in "docs/operating.md" "the source" "docs/operating.md has this figure, but the status has not"

grep -ohE '"[A-Z][A-Za-z]+", "' feeds/log/figures.h feeds/database/api/report.c | grep -oE '"[A-Z][A-Za-z]+"' | tr -d '"' | list "the database feed"
sed -n '/^### What the status shows/,/^##* [^#]/p' docs/feeds.md | grep -oE '^\| `[A-Za-z]+`' | tr -d '|` ' | list "docs/feeds.md"

all_in "the database feed" "docs/feeds.md" "this figure is not in the table \"What the status shows\" of docs/feeds.md"
all_in "docs/feeds.md" "the database feed" "docs/feeds.md has this figure, but the feed does not report it"
guard_end
