/* SPDX-License-Identifier: Apache-2.0 */
/* What a page's position in the changes of PostgreSQL claims, when the database crashes and gives ids again.
 *
 * Transactions take ids one after the other. Each records a row, commits something else, or rolls back. A page has shown a set of rows,
 * and has a position: an end, and the transactions before it that were in progress. The tailer wakes it when there is a row that the tailer's
 * own position has not. A crash ends all transactions, and what comes then gets ids again: those of transactions that left nothing
 * on disk. A commit is on disk before it is seen; with ASYNC it comes there some time later, in the order of commits.
 *
 * What must always be so:
 *   no row is shown twice, and no row that was never committed, or, without ASYNC, that is not there.
 * In the end:   the page shows what the database has, when nothing can move any more.
 *
 * Not modelled: batches, pruning, looks without the database, writers that announce their own rows. Each look is one step: a snapshot.
 *
 * The faults that it is to find are switched on by -D, see the README.
 */
#ifndef BEGINS
#define BEGINS 5 /* transactions */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef KILLS
#define KILLS 0 /* of the tailer: another process goes on with its position, and the page is woken */
#endif
#ifndef LOOKS
#define LOOKS 1 /* of the page, for another reason than a row */
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#define IDS BEGINS

mtype = { NONE, ACTIVE, UNDONE, OTHER, RECORDED };

/* --------------------------------------------------------------- the database */
byte next = 1;              /* the id of the next transaction */
mtype fate[IDS + 1] = NONE;
byte row[IDS + 1];          /* what it has recorded */
byte order[IDS + 1];        /* the number of its commit, */
byte commits, on_disk;      /* up to the last one, and to the last one on disk */
byte incarnation;
byte rows;                  /* that were ever committed */
byte begins = BEGINS, crashes = CRASHES, kills = KILLS, looks = LOOKS;

/* ------------------------------------------------- the page, and the tailer */
byte shown;                 /* bits: of rows */
byte position_end = 1, missing; /* its position */
byte position_of;              /* the incarnation in which it was made */
bit woken;
byte watched_end = 1, watched_missing, watched_of;
bit watched = 1;            /* it has a position */
bit cut;                    /* its connection has broken */
bit fresh;                  /* it goes on for another, and has not connected yet */
bit dirty;                  /* it has not looked since something happened */

byte i_, last_, active_, new_, there_, keep_;

#define HAS(e, m, id) (id < e && !(m & (1 << id)))

/* A snapshot: active_, the rows that are there, the largest transaction that has recorded one, and the rows that a position has not. */
inline see(e, m) {
    last_ = 0; active_ = 0; there_ = 0; new_ = 0;
    for (i_ : 1 .. IDS) {
        if
        :: fate[i_] == ACTIVE -> active_ = active_ | (1 << i_)
        :: fate[i_] == RECORDED ->
           last_ = i_;
           there_ = there_ | (1 << row[i_]);
           if
           :: !HAS(e, m, i_) -> new_ = new_ | (1 << row[i_])
           :: else
           fi
        :: else
        fi
    }
    i_ = 0
}

inline forget_snapshot() { last_ = 0; active_ = 0; there_ = 0; new_ = 0 }

#ifdef ASYNC
#ifdef NO_INCARNATION
#define IS_LOST (position_end > next)
#else
#define IS_LOST (position_end > next || position_of != incarnation)
#endif
#else
#define IS_LOST (position_end > next)
#endif

inline look() { d_step {
    see(position_end, missing);
    if
    :: IS_LOST -> shown = there_
    :: else ->
       assert((shown & new_) == 0);
       shown = shown | new_
    fi;
#ifndef ASYNC
    assert((shown & there_) == shown);
#endif
#ifdef NO_CAP
    position_end = next;
#else
#ifdef CAP_TOO_LOW
    position_end = (last_ > 0 -> last_ : 1);
#else
    position_end = last_ + 1;
#endif
#endif
#ifdef IN_PROGRESS_SEEN
    missing = 0;
#else
    missing = active_ & ((1 << position_end) - 1);
#endif
    position_of = incarnation;
    forget_snapshot()
} }

proctype page() {
end:
    do
    :: atomic { woken -> woken = 0; look() }
    :: atomic { looks > 0 -> looks--; look() }
    od
}

/* Its position is a whole snapshot: it is of one incarnation. */
inline watch() { d_step {
    if
    :: !fresh && cut -> watched = 0
#ifndef TAILER_GOES_ON
    :: fresh && watched_of != incarnation -> watched = 0
#endif
    :: watched_end > next -> watched = 0
    :: else
    fi;
    cut = 0; fresh = 0;
    see(watched_end, watched_missing);
    if
    :: !watched || new_ != 0 -> woken = 1
    :: else
    fi;
    watched = 1; watched_end = next; watched_missing = active_; watched_of = incarnation;
    forget_snapshot()
} }

proctype tailer() {
end:
    do
    :: atomic { dirty -> dirty = 0; watch() }
    :: atomic { kills > 0 -> kills--; fresh = 1; dirty = 1; woken = 1 }
    od
}

/* ----------------------------------------------------------------- the others */

inline commit(id, what) {
    commits++;
    order[id] = commits;
    fate[id] = what;
    if
    :: what == RECORDED -> rows++; row[id] = rows
    :: else
    fi;
    dirty = 1;
#ifndef ASYNC
    on_disk = commits
#endif
}

proctype writer() {
    byte id, born;
end:
    do
    :: atomic { begins > 0 -> begins--; id = next; next++; fate[id] = ACTIVE; born = incarnation }
       atomic {
           if
           :: born != incarnation /* the crash has ended it */
           :: born == incarnation -> commit(id, RECORDED)
           :: born == incarnation -> commit(id, OTHER)
           :: born == incarnation -> fate[id] = UNDONE
           fi;
           id = 0; born = 0
       }
    od
}

/* What is on disk stays. Other commits may have come there, the earlier ones first. */
inline lose(keep) {
    for (i_ : 1 .. IDS) {
        if
        :: fate[i_] == ACTIVE || ((fate[i_] == OTHER || fate[i_] == RECORDED) && order[i_] > keep) ->
           fate[i_] = UNDONE; row[i_] = 0; order[i_] = 0
        :: (fate[i_] == OTHER || fate[i_] == RECORDED) && order[i_] <= keep -> last_ = i_
        :: else
        fi
    }
    commits = keep; on_disk = keep;
    i_ = 0
}

proctype crash() {
end:
    do
    :: atomic { crashes > 0 -> crashes--;
           keep_ = on_disk;
           do
           :: keep_ < commits -> keep_++
           :: break
           od;
           lose(keep_);
           do
           :: next > last_ + 1 -> next--; fate[next] = NONE
           :: break
           od;
           incarnation++; cut = 1; dirty = 1;
           keep_ = 0; last_ = 0 }
    :: atomic { on_disk < commits -> on_disk++ }
    od
}

proctype monitor() { timeout -> d_step { see(position_end, missing); assert(shown == there_) } }

init { atomic {
    for (i_ : 1 .. WRITERS) { run writer() }
    i_ = 0;
    run page(); run tailer(); run crash(); run monitor() } }
