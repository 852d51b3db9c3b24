/* SPDX-License-Identifier: Apache-2.0 */
/* Streams on a page, for SPIN: the answers that are on their way (mod_vault/page/page_chain.c), and who may move them (mod_vault/page/page.c).
 *
 * A writer appends rows to a list. A state says how many of them the page shows, and waits for the row after these; the interest of that
 * row is learnt when the data have been read. Servers take polls and streams and run rounds in steps; the browser shows what comes,
 * acknowledges beside its stream, hangs up at any point, asks again with the number of what it shows, as a stream or as a poll. Requests
 * no client waits for come late. A child is killed with what it serves. The HTML is published while requests may be there already.
 *
 * Always:       an event goes on exactly from what is shown (nothing is lost, nothing comes twice);
 *               the page holds what its states name; after a round, that alone;
 *               what is kept was made from what is acknowledged;
 *               no more answers are on their way than the chain has places;
 *               a browser is told to load the page again only if requests came late.
 * In the end:   all is shown, when nothing can move any more (no time-out helps).
 *
 * Not modelled: how who waits is woken (what it waits for is a condition here), stamps as numbers ("has it moved since it was read" is a
 * bit), what feeds are told, writes from outside. Each critical section is one step.
 *
 * The faults that it is to find are switched on by -D, see the README.
 */
#ifndef ROWS
#define ROWS 3
#endif
#ifndef PLACES
#define PLACES 2
#endif
#ifndef CUTS
#define CUTS 1 /* how often the browser hangs up */
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef LATE
#define LATE 0 /* requests that come late, and whose answers no client waits for */
#endif
#define SERVERS 2
#define SIBLINGS 2
#define NONE 255
#define BASE PLACES

mtype = { POLL, STREAM };
mtype = { FREE, ASKED, BUSY };

/* ------------------------------------------------------------------- the page */
byte data;                   /* committed rows */
bit published;
byte seq[PLACES + 1];        /* of the staged answers and of the base; 0: an empty place; of the base: the HTML */
byte from[PLACES];           /* the number of the state that it was made from */
byte rows[PLACES + 1];       /* shown in it; it waits for the next one */
bit moved[PLACES + 1];       /* the interest of that was notified since its stamp was read, or never seen */
byte held;                   /* bits: the interests of which rows the page holds */
byte tip, last;
bit streams, polled;
byte owner = NONE;           /* who has the fence */

/* ---------------------------------------------------------------- the servers */
mtype state[SERVERS] = FREE;
byte watched[SERVERS];       /* the interest that the round has armed */
bit stirred[SERVERS];        /* it moved since */
bit called[SERVERS];         /* the page's own interest was notified since the look */
chan asked[SERVERS] = [1] of { mtype, byte };
chan line[SERVERS] = [PLACES] of { byte, byte, byte }; /* number, rows before, rows after */

/* ---------------------------------------------------------------- the browser */
byte shown, has;             /* rows, and the number that says so */
byte ear = NONE;             /* the server that it listens to */
bit reloads;                 /* it was told to: the end of this page */
chan aside = [1] of { byte };
byte cuts = CUTS, kills = KILLS, late = LATE;

/* ------------------------------------------------------------- the chain's own */
byte i_, k_, at_, x_, n_, old_, place_;
bit yes_, stays_[PLACES], was_full_;

/* at_: the place of that number */
inline find(number) {
    at_ = NONE;
    for (k_ : 0 .. PLACES - 1) {
        if
        :: seq[k_] != 0 && seq[k_] == number -> at_ = k_
        :: else
        fi
    }
    if
    :: published && seq[BASE] == number -> at_ = BASE
    :: else
    fi
}

/* yes_: does it go back to that one, through stored states? */
inline goes_back(number, to) {
    x_ = number;
    do
    :: x_ > to ->
       find(x_);
       if
       :: at_ == NONE || at_ == BASE -> break
       :: else -> x_ = from[at_]
       fi
    :: else -> break
    od;
    yes_ = (x_ == to)
}

inline wipe(place) { seq[place] = 0; from[place] = 0; rows[place] = 0; moved[place] = 0 }

/* n_: the interests that stored states name */
inline name() {
    n_ = 0;
    for (i_ : 0 .. PLACES - 1) {
        if
        :: seq[i_] != 0 -> n_ = n_ | (1 << rows[i_])
        :: else
        fi
    }
    if
    :: published -> n_ = n_ | (1 << rows[BASE])
    :: else
    fi
}

inline release_unnamed() { name(); held = held & n_ }

/* What must always be so of a page. */
inline check() {
    name();
    assert((held & n_) == n_);
    for (i_ : 0 .. PLACES - 1) {
        if
        :: seq[i_] != 0 -> assert(seq[i_] <= last && rows[i_] >= rows[BASE])
        :: else
        fi
    }
    i_ = 0; k_ = 0; at_ = 0; x_ = 0; n_ = 0; old_ = 0; yes_ = 0
}

inline commit(place) {
    old_ = seq[place];
    for (i_ : 0 .. PLACES - 1) {
        if
        :: seq[i_] != 0 ->
#ifdef FROM_NOT_CHECKED
           stays_[i_] = (seq[i_] >= old_)
#else
           goes_back(seq[i_], old_);
           stays_[i_] = yes_
#endif
        :: else
        fi
    }
    seq[BASE] = seq[place]; rows[BASE] = rows[place]; moved[BASE] = moved[place];
    wipe(place);
    for (i_ : 0 .. PLACES - 1) {
        if
        :: seq[i_] != 0 && !stays_[i_] -> wipe(i_)
        :: else
        fi;
        stays_[i_] = 0
    }
    for (i_ : 0 .. PLACES - 1) {
        if
        :: seq[i_] != 0 -> goes_back(seq[i_], seq[BASE]); assert(yes_)
        :: else
        fi
    }
#ifdef RELEASE_AT_ACK
    release_unnamed()
#endif
}

/* old_: the place of the oldest answer that may go, one of those made from the tip or one that the tip does not need */
inline oldest(siblings) {
    old_ = NONE;
    for (i_ : 0 .. PLACES - 1) {
        if
        :: seq[i_] == 0
        :: seq[i_] != 0 && siblings && from[i_] != tip
        :: else ->
#ifdef NEEDED_MAY_GO
           yes_ = 0;
#else
           if
           :: siblings -> yes_ = 0
           :: else -> goes_back(tip, seq[i_])
           fi;
#endif
           if
           :: !yes_ && (old_ == NONE || seq[i_] < seq[old_]) -> old_ = i_
           :: else
           fi
        fi
    }
}

/* n_: an empty place, or NONE */
inline find_empty() {
    n_ = NONE;
    for (k_ : 0 .. PLACES - 1) {
        if
        :: seq[k_] == 0 && n_ == NONE -> n_ = k_
        :: else
        fi
    }
}

/* yes_: no answer can be staged */
inline is_full() {
    find_empty();
    if
    :: n_ != NONE -> yes_ = 0
    :: else -> oldest(0); yes_ = (old_ == NONE)
    fi
}

/* n_: the place for one more answer that is made from the tip, or NONE */
inline room() {
    x_ = 0;
    for (k_ : 0 .. PLACES - 1) {
        if
        :: seq[k_] != 0 && from[k_] == tip -> x_++
        :: else
        fi
    }
    find_empty();
    old_ = NONE;
    if
    :: x_ >= SIBLINGS -> oldest(1)
    :: x_ < SIBLINGS && n_ == NONE -> oldest(0)
    :: else
    fi;
    if
    :: old_ != NONE ->
       wipe(old_);
       if
       :: n_ == NONE -> n_ = old_
       :: else
       fi
    :: else
    fi
}

/* ------------------------------------------------------------ notify, hold, call */

inline notify(row) { d_step {
    if
    :: held & (1 << row) ->
       for (k_ : 0 .. PLACES) {
           if
           :: rows[k_] == row -> moved[k_] = 1
           :: else
           fi
       }
       for (k_ : 0 .. SERVERS - 1) {
           if
           :: watched[k_] == row -> stirred[k_] = 1
           :: else
           fi
       }
       k_ = 0
    :: else /* no page holds it: nothing happens */
    fi
} }

inline hold(row) { held = held | (1 << row) }

inline call_page() {
    for (k_ : 0 .. SERVERS - 1) { called[k_] = 1 }
}

/* -------------------------------------------------------------- requests, rounds */

inline overtake(by, was) {
    owner = by;
    if
    :: polled -> call_page()
    :: else
    fi;
    if
#ifdef VIEW_RELEASED
    :: seq[BASE] != was || streams -> release_unnamed()
#else
    :: published && (seq[BASE] != was || streams) -> release_unnamed()
#endif
    :: else
    fi;
    streams = 0;
#ifndef TAKEOVER_KEEPS_TIP
    tip = seq[BASE]
#endif
}

/* ok: the number is known, and what it says is done */
inline admit(number, ok) {
    find(number);
    ok = (at_ != NONE || (!published && number == 0));
    if
    :: at_ < BASE -> place_ = at_; commit(place_); place_ = 0
    :: else
    fi
}

/* Does the stream go on from what is acknowledged? at_: the place of its tip */
#ifdef ACK_OF_OTHERS_ENDS_NOTHING
#define IS_STREAMS_OWN (streams && polled)
#else
#define IS_STREAMS_OWN (streams && polled && at_ != NONE)
#endif

proctype acknowledger() {
    byte number, was;
    bit ok;
end:
    do
    :: d_step { aside?number ->
           was = seq[BASE];
           is_full(); was_full_ = yes_;
           admit(number, ok);
           find(tip);
           if
           :: !ok
           :: ok && IS_STREAMS_OWN ->
              if
#ifndef FULL_IS_NOT_CALLED
              :: was_full_ -> call_page()
#endif
              :: else
              fi
           :: else ->
              if
              :: seq[BASE] != was -> overtake(NONE, was)
              :: else
              fi
           fi;
           check(); number = 0; was = 0; ok = 0; was_full_ = 0 }
    od
}

/* Killed: no child serves the page. What it has sent may still arrive. */
#define DIE \
    :: d_step { kills > 0 -> kills--; \
       if :: owner == me -> polled = 0 :: else fi } \
       goto over

proctype server(byte me) {
    mtype kind;
    byte number, base, now, sent;
    bit ok, no_room, moves;
end:
    do
    :: asked[me]?kind,number ->
       d_step {
           state[me] = BUSY;
           now = seq[BASE];
           admit(number, ok);
           if
           :: ok -> overtake(me, now); polled = 1
           :: else
           fi;
           check(); now = 0; number = 0
       }
       if
       :: !ok -> atomic {
              if
              :: ear == me -> assert(late < LATE); reloads = 1
              :: else
              fi;
              goto over }
       :: ok
       fi;
       d_step {
           if
           :: kind == STREAM && owner == me -> streams = 1
           :: else
           fi
       }
look:
       atomic { (published || owner != me);
           if
           :: owner != me -> goto over
           :: else
           fi;
           find(tip);
           assert(at_ != NONE);
           base = rows[at_]; watched[me] = base; stirred[me] = moved[at_];
           called[me] = 0;
           no_room = 0;
           if
           :: streams -> is_full(); no_room = yes_
           :: else
           fi;
           at_ = 0; i_ = 0; k_ = 0; x_ = 0; n_ = 0; old_ = 0; yes_ = 0
       }
       /* arm, and compare: what moves from here on counts for the next round */
       atomic { moves = stirred[me] && !no_room;
           if
           :: moves -> stirred[me] = 0
           :: else
           fi }
       if
       :: !moves ->
          if
          :: no_room -> (called[me] || owner != me)
          :: !no_room -> (stirred[me] || called[me] || owner != me)
          DIE
          fi;
          no_room = 0;
          goto look
       :: moves -> moves = 0; no_room = 0
       fi;
       /* the method: read, then learn what it waits for */
       now = data;
       d_step { hold(now) }
       if
       DIE
       :: true
       fi;
       d_step {
#ifdef NO_FENCE
           ok = 1;
#else
           ok = (owner == me);
#endif
           sent = 0;
           if
           :: ok && now > base ->
              room();
              if
              :: n_ != NONE ->
#ifdef NUMBER_AGAIN
                 last = tip + 1;
#else
                 last++;
#endif
                 seq[n_] = last; rows[n_] = now;
#ifdef FROM_IS_BASE
                 from[n_] = seq[BASE];
#else
                 from[n_] = tip;
#endif
#ifndef LEARNT_COUNTS_AS_SEEN
                 moved[n_] = 1;
#endif
                 sent = last;
#ifndef TIP_STAYS
                 if
                 :: streams -> tip = last
                 :: else
                 fi;
#endif
                 release_unnamed();
                 assert(held == n_)
              :: else
              fi
           :: ok && now == base -> /* nothing to show: its stamp is that of the arming */
              find(tip);
              if
              :: at_ != NONE -> moved[at_] = stirred[me]
              :: else
              fi;
              release_unnamed();
              assert(held == n_)
           :: else
           fi;
           check()
       }
       if
       :: !ok -> goto over
       :: ok && !sent -> base = 0; now = 0; goto look
       :: ok && sent
       fi;
       if
       DIE
       :: true
       fi;
       atomic {
           if
           :: ear == me -> assert(nfull(line[me])); line[me]!sent,base,now
           :: else
           fi;
           sent = 0; base = 0; now = 0;
           if
           :: kind == STREAM -> goto look
           :: else
           fi;
           if
           :: owner == me -> polled = 0
           :: else
           fi
       }
over:  atomic { state[me] = FREE; watched[me] = 0; stirred[me] = 0; called[me] = 0; kind = 0;
           base = 0; now = 0; sent = 0; ok = 0; no_room = 0; moves = 0 }
    od
}

/* ------------------------------------------------------------------- the others */

proctype writer() {
    do
    :: data < ROWS -> data++; notify(data - 1)
    :: else -> break
    od
}

/* The HTML: what it shows is read, then held, then published. */
proctype view() {
    byte now;

    now = data;
    d_step { hold(now) }
    d_step { published = 1; rows[BASE] = now; moved[BASE] = 1; shown = now;
        release_unnamed(); check() }
}

inline ask(me, how, number) {
    state[me] = ASKED; asked[me]!how,number
}

inline connect(how) {
    if
    :: state[0] == FREE && empty(line[0]) -> ear = 0; ask(0, how, has)
    :: state[1] == FREE && empty(line[1]) -> ear = 1; ask(1, how, has)
    fi
}

inline hang_up() {
    do
    :: nempty(line[ear]) -> line[ear]?_,_,_
    :: empty(line[ear]) -> break
    od;
    ear = NONE
}

proctype browser() {
    byte number, before, after, told;
end:
    do
    :: reloads -> break
    :: atomic { !reloads && ear == NONE -> told = has;
           if
           :: connect(STREAM)
           :: connect(POLL)
           fi }
    :: atomic { ear != NONE && nempty(line[ear]) -> line[ear]?number,before,after;
           assert(before == shown && number > has);
           shown = after; has = number; number = 0; before = 0; after = 0 }
    :: atomic { ear != NONE && state[ear] == FREE && empty(line[ear]) -> ear = NONE }
    :: atomic { ear != NONE && told != has && nfull(aside) -> aside!has; told = has }
    :: atomic { ear != NONE && cuts > 0 && (state[ear] != ASKED || late > 0) -> cuts--;
           if
           :: state[ear] == ASKED -> late-- /* it is on its way, and comes late */
           :: else
           fi;
           hang_up() }
    od
}

/* Says what the browser shows or showed; no client waits for the answer. */
proctype latecomer() {
    byte number;
end:
    do
    :: atomic { late > 0 && !reloads && ear != 0 && state[0] == FREE && empty(line[0]) ->
           late--;
           if
           :: ask(0, STREAM, has)
           :: ask(0, POLL, has)
           :: has > 0 -> ask(0, POLL, has - 1)
           fi }
    :: atomic { late > 0 && !reloads && ear != 1 && state[1] == FREE && empty(line[1]) ->
           late--;
           if
           :: ask(1, STREAM, has)
           :: ask(1, POLL, has)
           :: has > 0 -> ask(1, POLL, has - 1)
           fi }
    od
}

proctype monitor() { timeout -> assert(reloads || shown == ROWS) }

init { atomic {
    run writer(); run view(); run acknowledger(); run server(0); run server(1); run browser(); run latecomer();
    run monitor() } }

/* The same, and that no run goes on for ever before that. */
ltl settles { <>[] (reloads || shown == ROWS) }
