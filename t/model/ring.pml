/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of changes between the tailer and the pages of a server (feeds/log/ring.h, tail.h; feeds/database/changes/change_read_ring.h).
 *
 * Writers commit changes, in any order. The tailer reads those that its position does not contain, appends them to the ring, publishes the head
 * with the new position, and notifies. It can be killed between any two of these steps; its successor goes on from the head that was published,
 * and the parent has all pages look. A page has a cursor: an offset in the ring and a position. It takes what is new from the ring, or, when the
 * ring cannot answer, from the database in one snapshot, as for its first view. When the connection of the tailer has
 * broken, a new life of the ring begins.
 *
 * A position is the set of changes that a reader has seen: that is what all three kinds are. A change is a bit.
 *
 * What must always be so:   no page is shown a change twice, nor one that is in no entry that it has read whole.
 * In the end:               each page shows what the database has, when nothing can move any more.
 *
 * Not modelled: batches, pruning, a database that is restored, writers that wait for the tailer, images of other columns than the page knows.
 *
 * The faults that it is to find are switched on by -D, see the README.
 */
#ifndef CHANGES
#define CHANGES 3
#endif
#ifndef ROOM
#define ROOM 2 /* entries that the ring holds */
#endif
#ifndef KILLS
#define KILLS 1 /* of the tailer */
#endif
#ifndef CUTS
#define CUTS 0 /* of its connection */
#endif
#ifndef LOOKS
#define LOOKS 1 /* of the page, for another reason than a change */
#endif
#define ENDS (2 * CHANGES + 2 * CUTS + 2) /* offsets: a killed tailer appends again */

/* ---------------------------------------------------------------- the database */
byte committed;    /* bits: of changes */
byte begun;        /* the same */
bit dirty = 1;     /* something was committed since the tailer looked */
bit cut;           /* its connection has broken */
bit killed;        /* the tailer is: it takes no further step */
byte kills = KILLS, cuts = CUTS, looks = LOOKS;

/* -------------------------------------------------------------------- the ring */
byte slot[ROOM];   /* which change; 255: half written */
byte tail, next;   /* offsets */
byte last, position, boot; /* the head */

/* -------------------------------------------------------------------- the page */
byte shown;
bit woken;
bit is_open;       /* it has had its first view */

/* ------------------------------------------------------------------ the tailer */

proctype tailer() {
    byte seen, new, change, was;

    {
end:
    do
    :: dirty || cut ->
       dirty = 0;
       atomic {
           if
           :: cut || boot == 0 -> cut = 0; seen = committed; new = 0; was = 1
           :: else -> seen = committed; new = committed & ~position; was = 0
           fi
       }
       if
       :: was ->
          was = 0;
#ifdef NO_BOOT
          atomic { last = next; position = seen; if :: boot == 0 -> boot = 1 :: else fi }
#else
          atomic { last = next; position = seen; boot++ }
#endif
          new = 1 /* all pages look */
       :: else ->
#ifdef NOTIFY_FIRST
          if :: new != 0 -> woken = 1 :: else fi;
#endif
          change = 0;
          do
          :: change < CHANGES && (new & (1 << change)) ->
#ifndef TAIL_LATE
             if :: next - tail >= ROOM -> tail++ :: else fi;
#endif
             slot[next % ROOM] = 255;
             slot[next % ROOM] = change;
#ifdef TAIL_LATE
             if :: next - tail >= ROOM -> tail++ :: else fi;
#endif
             next++; change++
          :: change < CHANGES && !(new & (1 << change)) -> change++
          :: change == CHANGES -> break
          od;
          change = 0;
#ifdef HEAD_IN_PARTS
          position = seen;
          last = next;
#else
          atomic { last = next; position = seen }
#endif
       fi;
#ifdef NOTIFY_FIRST
       if :: new != 0 && position != seen -> woken = 1 :: else fi;
#else
       if :: new != 0 -> woken = 1 :: else fi;
#endif
       atomic { new = 0; seen = 0 }
    od
    } unless { atomic { killed -> killed = 0;
        /* Another child takes over; the parent has all pages look. */
        dirty = 1;
#ifndef NOBODY_IS_TOLD
        woken = 1;
#endif
#ifdef SUCCESSOR_GOES_ON
        last = next;
#endif
        next = (last > tail -> last : tail);
        run tailer() } }
}

/* -------------------------------------------------------------------- the page */

proctype page() {
    byte of_boot, at, has;        /* its cursor; boot 0: none */
    byte head_end, head_position, head_boot, got, copy;
    bit whole;
end:
    do
    :: (!is_open || woken || looks > 0) ->
       atomic { if :: woken :: !woken && is_open -> looks-- :: !woken && !is_open fi }
#ifndef INTEREST_LATE
       woken = 0;
#endif
#ifdef HEAD_READ_LATE
       if
       :: !is_open -> atomic { shown = committed; has = committed; is_open = 1; whole = 0 };
          atomic { of_boot = boot; at = last }
       :: else ->
#endif
       atomic { head_end = last; head_position = position; head_boot = boot };
       got = 0;
       whole = of_boot != 0 && of_boot == head_boot && is_open;
       do
       :: whole && at < head_end ->
          copy = slot[at % ROOM];
#ifndef NO_CHECK_AFTER
          if
          :: tail > at -> whole = 0
          :: else ->
#endif
          assert(copy != 255);
#ifdef NOT_COMPARED
          got = got | (1 << copy);
#else
          if
          :: has & (1 << copy)
          :: else -> got = got | (1 << copy)
          fi;
#endif
          at++
#ifndef NO_CHECK_AFTER
          fi
#endif
       :: !(whole && at < head_end) -> break
       od;
       copy = 0;
       if
       :: whole -> atomic {
              assert((shown & got) == 0);
              shown = shown | got;
              has = has | head_position;
              at = head_end }
       :: else -> atomic { /* one snapshot */
              assert((shown & (committed & ~has)) == 0);
              shown = shown | committed;
              has = committed; is_open = 1;
              of_boot = head_boot; at = head_end }
       fi;
#ifdef HEAD_READ_LATE
       fi;
#endif
#ifdef INTEREST_LATE
       woken = 0;
#endif
       atomic { got = 0; whole = 0; head_end = 0; head_position = 0; head_boot = 0 }
    od
}

/* ------------------------------------------------------------------ the others */

proctype writer() {
    byte id;
end:
    do
    :: atomic { begun < CHANGES -> id = begun; begun++ }
       atomic { committed = committed | (1 << id); dirty = 1 }
    od
}

proctype killer() {
end:
    do
    :: atomic { kills > 0 && !killed -> kills--; killed = 1 }
    od
}

/* The tailer connects again. */
proctype administrator() {
end:
    do
    :: atomic { cuts > 0 -> cuts--; cut = 1 }
    od
}

proctype monitor() { timeout -> assert(shown == committed) }

init { atomic { run writer(); run writer(); run tailer(); run page(); run killer(); run administrator(); run monitor() } }
