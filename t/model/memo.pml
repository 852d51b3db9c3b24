/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that are kept and used again, for SPIN: the output store (mod_vault/output/), methods (mod_vault/poll/method_reuse.c), whole
 * responses and views (mod_vault/cache/).
 *
 * A writer commits rows and then notifies their interest. Users ask for what shows them: a page has a view and then polls; a reader asks once
 * for a response that is no page. A run holds the interest for the entry, then for its page, then reads. Its output is kept with what it
 * depends on: the stamp, the cursor and the property of its page, and the answer of create_interest. Another user takes it if all of that is
 * the same for it. One request leads for a variant, others wait for the end of its lead. A child is killed between any two steps; the parent
 * then voids its leases and notifies all. Entries are evicted, runs fail, answers are lost.
 *
 * Always:       a user gets at least what was announced before it asked (nothing stale is served after notify has returned);
 *               an output goes on exactly from what its page shows, and was made for the page's property.
 * In the end:   every page shows all rows, when nothing can move any more (no time-out helps, and no sweep).
 *
 * With NO_CURSOR the feed has no position: it gives all rows if the interest has moved for the page, and nothing if it has not.
 *
 * Not modelled: several interests of an entry, files, times, Vary; what is personal; bodies; answers that the browser acknowledges later
 * (chain.pml). Each critical section is one step.
 *
 * The faults that it is to find are switched on by -D, see the README.
 */
#ifndef ROWS
#define ROWS 1
#endif
#ifndef PAGES
#define PAGES 2
#endif
#ifndef READERS
#define READERS 0 /* requests for a response that is no page */
#endif
#ifndef KILLS
#define KILLS 0 /* of a child that runs or waits, or of the writer between its commit and its notify */
#endif
#ifndef FAILS
#define FAILS 0 /* runs that fail */
#endif
#ifndef EVICTIONS
#define EVICTIONS 0
#endif
#ifndef LOST
#define LOST 0 /* answers that are lost on their way */
#endif
#ifndef LEAVES
#define LEAVES 0 /* pages whose browser leaves */
#endif
#ifndef ENTRIES
#define ENTRIES 2
#endif
#define USERS (PAGES + READERS)
#define LEADS (USERS + KILLS)
#define NONE 255
/* Where a run goes on from, when it is not a cursor: nothing is shown yet. */
#define VIEW 254
#define RESPONSE 253

byte data;               /* committed rows */
byte told;               /* rows whose notify has returned */
byte clock = 1;
byte stamp;              /* of the interest; 0: it does not exist, since nothing holds it */
bit holds[USERS];        /* the page holds the interest */
bit armed[USERS], woken[USERS];
byte deaths;             /* that the parent has not seen */
byte kills = KILLS, fails = FAILS, evictions = EVICTIONS, lost = LOST, leaves = LEAVES;

typedef entry_t {
    bit kept;
    byte from;           /* the cursor of the page, VIEW, or RESPONSE */
    bit property;
    bit moved;           /* the answer of create_interest */
    byte at;             /* the stamp that the store captured */
    byte made_at;        /* the stamp that the page captured */
    byte to;             /* rows that are shown then */
};
entry_t entry[ENTRIES];

typedef lead_t {
    bit open;
    bit lives;           /* the lease is not void */
    bit dead;            /* its child is */
    byte from;
    bit property;
    byte at;             /* 0: it holds nothing yet */
};
lead_t lead[LEADS];
byte waits_for[USERS] = NONE; /* which lead */
bit waits[USERS];        /* the user has armed the interest of that */
bit is_over[USERS];      /* it has ended, and its place may have another one */

bit live[USERS];         /* the view was sent */
bit first[USERS];        /* the method has not run since */
byte shown[USERS];
byte base_at[USERS];     /* the stamp in the page's state */
bit done[USERS];         /* a reader has its response, a page is gone */
bit property[USERS];

byte i_, n_;

#ifdef NO_CURSOR
#define CURSOR(p) 0
#else
#define CURSOR(p) shown[p]
#endif

/* ----------------------------------------------------------------- the notifier */

inline hold() {
    if
    :: stamp == 0 ->
#ifndef NOT_FRESH
       clock++;
#endif
       stamp = clock
    :: else
    fi
}

/* The interest goes with its last holder. */
inline release() {
    n_ = 0;
    for (i_ : 0 .. USERS - 1) { n_ = n_ + holds[i_] }
    for (i_ : 0 .. ENTRIES - 1) { n_ = n_ + entry[i_].kept }
    for (i_ : 0 .. LEADS - 1) { n_ = n_ + (lead[i_].open && lead[i_].at != 0) }
    if
    :: n_ == 0 -> stamp = 0
    :: else
    fi;
    i_ = 0; n_ = 0
}

inline wake(who) {
    if
    :: armed[who] -> armed[who] = 0; woken[who] = 1
    :: else
    fi
}

inline notify() { d_step {
    if
    :: stamp != 0 ->
       clock++;
       stamp = clock;
       for (i_ : 0 .. USERS - 1) { wake(i_) }
       i_ = 0
    :: else /* nothing holds it: nothing happens */
    fi
} }

inline notify_all() { d_step {
#ifndef WAKE_ONLY
    clock++;
    stamp = (stamp != 0 -> clock : 0);
#endif
    for (i_ : 0 .. USERS - 1) { wake(i_) }
    i_ = 0
} }

/* -------------------------------------------------------------------- the store */

/* End the lead l; those who wait look again. */
inline end_lead(l) {
    for (i_ : 0 .. USERS - 1) {
        if
        :: waits_for[i_] == l ->
           is_over[i_] = 1;
#ifndef END_NOT_TOLD
           if
           :: waits[i_] -> waits[i_] = 0; wake(i_)
           :: else
           fi
#endif
        :: else
        fi
    }
    lead[l].open = 0; lead[l].lives = 0; lead[l].dead = 0; lead[l].from = 0; lead[l].property = 0; lead[l].at = 0;
    i_ = 0
}

/* mine: the place of the own lead; other: of the one that makes the same, or NONE */
inline begin_lead() {
    other = NONE; mine = NONE;
    for (n_ : 0 .. LEADS - 1) {
        if
        :: lead[n_].open && lead[n_].from == from && lead[n_].property == property[me] ->
           if
           :: lead[n_].lives -> other = n_
           :: else -> end_lead(n_)
           fi
        :: else
        fi
    }
    for (n_ : 0 .. LEADS - 1) {
        if
        :: other == NONE && mine == NONE && !lead[n_].open -> mine = n_
        :: else
        fi
    }
    n_ = 0;
    if
    :: mine != NONE -> lead[mine].open = 1; lead[mine].lives = 1; lead[mine].from = from; lead[mine].property = property[me]
    :: else
    fi
}

/* The entry replaces one of the same variant, or takes a free place, or the last one. */
inline keep() {
    n_ = ENTRIES - 1;
    for (i_ : 0 .. ENTRIES - 1) {
        if
        :: !entry[i_].kept -> n_ = i_
        :: else
        fi
    }
    for (i_ : 0 .. ENTRIES - 1) {
        if
        :: entry[i_].kept && entry[i_].from == from && entry[i_].property == property[me] -> n_ = i_
        :: else
        fi
    }
    entry[n_].kept = 1; entry[n_].from = from; entry[n_].property = property[me]; entry[n_].moved = moved;
    entry[n_].at = lead[mine].at; entry[n_].made_at = at; entry[n_].to = to;
    i_ = 0; n_ = 0
}

/* Would running it give what is in the entry e? */
#ifdef CURSOR_NOT_COMPARED
#define SAME_CURSOR(e) ((entry[e].from < RESPONSE) == (from < RESPONSE))
#else
#define SAME_CURSOR(e) (entry[e].from == from)
#endif
#ifdef PROPERTY_NOT_COMPARED
#define SAME_PROPERTY(e) true
#else
#define SAME_PROPERTY(e) (entry[e].property == property[me])
#endif
#ifdef ANSWER_NOT_COMPARED
#define SAME_ANSWER(e) true
#else
#define SAME_ANSWER(e) (entry[e].moved == (from >= RESPONSE || entry[e].made_at > base_at[me]))
#endif
#define FITS(e) (entry[e].kept && SAME_CURSOR(e) && SAME_PROPERTY(e) && SAME_ANSWER(e))

/* found: a copy of the entry that fits was made */
inline find() {
    found = 0;
    for (i_ : 0 .. ENTRIES - 1) {
        if
        :: !found && FITS(i_) ->
           found = 1;
           at = entry[i_].made_at; entry_at = entry[i_].at; moved = entry[i_].moved; made_from = entry[i_].from;
           made_for = entry[i_].property;
           to = (moved -> entry[i_].to : shown[me])
        :: else
        fi
    }
    i_ = 0
}

inline forget_run() { moved = 0; to = 0; at = 0; entry_at = 0; found = 0; made_from = 0; made_for = 0 }

#ifdef NO_NUMBER
#define IS_MADE (lead[other].open && lead[other].lives)
#else
#define IS_MADE (lead[other].open && lead[other].lives && !is_over[me])
#endif

/* ------------------------------------------------------------------------ users */

/* Killed in a run or while waiting. The client asks again. */
#define DIE \
    :: atomic { kills > 0 -> kills--; deaths++; armed[me] = 0; \
       if :: mine != NONE -> lead[mine].dead = 1 :: else fi; \
       goto again }

inline hold_for_entry() {
    if
    :: mine != NONE -> hold(); lead[mine].at = stamp
    :: else
    fi
}

inline hold_for_page() {
    if
    :: is_page -> hold(); holds[me] = 1
    :: else
    fi
}

inline arm_to_wait() {
    armed[me] = 1; woken[me] = 0;
    waits[me] = !is_over[me]
}

/* A page whose view has not been sent is not kept. */
inline begin_again() {
    mine = NONE; other = NONE; waited = 0; from = 0; asked = 0; forget_run();
    waits_for[me] = NONE; waits[me] = 0; is_over[me] = 0; woken[me] = 0;
    if
    :: !live[me] && holds[me] -> holds[me] = 0; release()
    :: else
    fi
}

/* What the user gets, unless it is lost or its child is killed. The transaction goes on from what its page shows. */
inline answer() {
    assert(to >= asked);
    assert(made_for == property[me]);
    assert(from >= RESPONSE || !moved || made_from == from);
    if
    :: lost > 0 -> lost--
    :: true ->
       shown[me] = to; base_at[me] = at; first[me] = !live[me];
       if
       :: is_page -> live[me] = 1
       :: else -> done[me] = 1
       fi
    fi
}

proctype user(byte me; bit is_page) {
    byte from, to, at, entry_at, mine, other, asked, made_from;
    bit moved, waited, found, made_for;

again:
    atomic { begin_again();
        if
        :: live[me] -> armed[me] = 1; goto compare
        :: done[me] -> goto over
        :: else -> from = (is_page -> VIEW : RESPONSE); asked = told; goto look
        fi }

compare:
    atomic {
        if
        :: first[me] || stamp > base_at[me] -> armed[me] = 0; woken[me] = 0; asked = told; from = CURSOR(me); goto look
        :: else
        fi }
    if
    :: atomic { woken[me] -> woken[me] = 0; armed[me] = 1; goto compare }
    :: atomic { leaves > 0 -> leaves--; done[me] = 1; armed[me] = 0; holds[me] = 0; release(); goto over }
    fi;

    /* To look and to lead are one step: the code looks again when it leads. */
look:
    atomic { find();
        if
        :: !found -> goto to_lead
        :: else
        fi }
#ifdef HOLD_LATE
    atomic { found = (stamp == entry_at) }
    atomic { hold_for_page() }
#else
#ifndef NO_OWN_HOLD
    atomic { hold_for_page() }
#endif
#endif
    atomic {
#if !defined(NOT_CURRENT_AT_USE) && !defined(HOLD_LATE)
        found = (stamp == entry_at);
#endif
#ifdef FRESH_STAMPS
        skip }
    atomic { at = stamp;
#endif
        if
        :: found -> answer(); goto again
        :: else -> goto to_lead
        fi }

to_lead:
    atomic { forget_run(); begin_lead();
        if
        :: other == NONE || waited -> other = NONE; goto run_it
        :: else -> waits_for[me] = other
        fi }
wait:
#ifndef ARM_LATE
    atomic { arm_to_wait() }
#endif
    atomic {
        if
        :: IS_MADE
        :: else -> armed[me] = 0; woken[me] = 0; waited = 1; other = NONE; waits_for[me] = NONE; waits[me] = 0; is_over[me] = 0;
           goto look
        fi }
#ifdef ARM_LATE
    atomic { arm_to_wait() }
#endif
    if
    :: atomic { woken[me] -> goto wait }
    DIE
    fi;

run_it:
#ifndef STAMP_LATE
    atomic { hold_for_entry() }
#endif
    atomic { hold_for_page(); at = (is_page -> stamp : 0); moved = (from >= RESPONSE || at > base_at[me]) }
    to = (moved -> data : shown[me]);
#ifdef STAMP_LATE
    atomic { hold_for_entry() }
#endif
    if
    DIE
    :: atomic { fails > 0 -> fails--;
           if
           :: mine != NONE ->
#ifdef FAILED_IS_KEPT
              to = shown[me];
              keep();
#endif
              end_lead(mine); mine = NONE; release()
           :: else
           fi;
           goto again }
    :: atomic { made_from = from; made_for = property[me];
           if
#ifdef KEEP_UNCHECKED
           :: mine != NONE -> keep(); end_lead(mine); mine = NONE; release()
#else
           :: mine != NONE && lead[mine].at == stamp -> keep(); end_lead(mine); mine = NONE; release()
           :: mine != NONE && lead[mine].at != stamp -> end_lead(mine); mine = NONE; release()
#endif
           :: else
           fi;
           answer(); goto again }
    fi;
over:
    skip
}

/* ------------------------------------------------------------------- the others */

proctype writer() {
    do
    :: data < ROWS ->
       data++;
       if
       :: notify(); told = data
       :: atomic { kills > 0 -> kills--; deaths++ } /* its data are told by the parent */
       fi
    :: else -> break
    od
}

inline void_leases() { d_step {
    for (i_ : 0 .. LEADS - 1) {
        if
        :: lead[i_].dead -> lead[i_].lives = 0
        :: else
        fi
    }
    i_ = 0
} }

proctype parent() {
end:
    do
    :: deaths > 0 ->
       deaths--;
#ifdef WAKE_FIRST
       notify_all();
#endif
#ifndef NOT_A_LEASE
       void_leases();
#endif
#ifndef WAKE_FIRST
       notify_all();
#endif
    od
}

proctype evictor() {
    byte e;
end:
    do
    :: d_step { evictions > 0 && entry[0].kept -> evictions--; entry[0].kept = 0; entry[0].from = 0; entry[0].property = 0; entry[0].moved = 0;
           entry[0].at = 0; entry[0].made_at = 0; entry[0].to = 0; release() }
#if ENTRIES > 1
    :: d_step { evictions > 0 && entry[1].kept -> evictions--; entry[1].kept = 0; entry[1].from = 0; entry[1].property = 0; entry[1].moved = 0;
           entry[1].at = 0; entry[1].made_at = 0; entry[1].to = 0; release() }
#endif
    od
}

#define SEES(p) (done[p] || (live[p] && shown[p] == ROWS))
#if PAGES + READERS == 2
#define ALL_SEE (SEES(0) && SEES(1))
#else
#define ALL_SEE (SEES(0) && SEES(1) && SEES(2))
#endif

proctype monitor() { timeout -> assert(ALL_SEE) }

init { atomic {
    if
    :: property[1] = 0
    :: property[1] = 1
    fi;
    for (i_ : 0 .. USERS - 1) { run user(i_, i_ < PAGES) }
    i_ = 0;
    run writer(); run parent(); run evictor(); run monitor() } }

/* The same, and that no run goes on for ever before that. */
ltl settles { <>[] ALL_SEE }
