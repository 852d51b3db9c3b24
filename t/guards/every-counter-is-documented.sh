# SPDX-License-Identifier: Apache-2.0
# Every figure of the status is in the table "All figures" of docs/operating.md, every figure that the database feed reports is in the table "What the status
# shows" of docs/feeds.md, every reason why an output is personal is in the table "What is personal" of docs/caching.md, and the other way round.
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

grep -oE '^ +REASON\([A-Z]+, *"[a-z]+"' mod_vault/shm/counters.h | grep -oE '"[a-z]+"' | tr -d '"' | list "the reasons"
sed -n '/^## What is personal/,/^##* [^#]/p' docs/caching.md | grep -oE '^\| `[a-z]+`' | tr -d '|` ' | list "docs/caching.md"

all_in "the reasons" "docs/caching.md" "this reason is not in the table \"What is personal\" of docs/caching.md"
all_in "docs/caching.md" "the reasons" "docs/caching.md has this reason, but counters.h has not"
guard_end
