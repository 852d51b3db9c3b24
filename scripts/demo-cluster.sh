# SPDX-License-Identifier: Apache-2.0
# scripts/demo cluster: three servers with what they share, and a balancer in front of them. Sourced by scripts/demo, whose variables it uses.
# All of them run as one user on 127.0.0.1. What they write is in a new folder, which is removed at the end.

cluster_parts="postgres redis nats1 nats2 a b c balancer"

need_to_show_cluster() {
    need nats-server server_program nats-server
    need redis-server command -v redis-server
    need postgresql server_program initdb /usr/lib/postgresql/*/bin
}

# where_is PROGRAM: its path
where_is() {
    PATH=$PATH:/usr/sbin:/usr/local/sbin:$(echo /usr/lib/postgresql/*/bin | tr ' ' ':') command -v "$1" || die "$1 was not found"
}

# port_of PART: the balancer has PORT, and the others those after it.
port_of() {
    case $1 in
    balancer) echo "$port" ;;
    a) echo $((port + 1)) ;;
    b) echo $((port + 2)) ;;
    c) echo $((port + 3)) ;;
    nats1) echo $((port + 4)) ;;
    nats2) echo $((port + 5)) ;;
    redis) echo $((port + 6)) ;;
    postgres) echo $((port + 7)) ;;
    esac
}

# As root, all run as www-data: PostgreSQL refuses to run as root.
cluster_as() {
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid=www-data --regid=www-data --clear-groups "$@"
    fi
    exec "$@"
}

cluster_prepare() {
    [ "$port" -ge 1024 ] && [ "$port" -le 65528 ] || die "PORT=$port: the cluster needs eight ports from it on, between 1024 and 65535"
    writable_folder "$build"
    need_to_build
    need_to_show_cluster
    install_missing "$build/apt.log"
    for part in $cluster_parts; do
        check_port_is_free "$(port_of "$part")"
    done
    say "Building in $build"
    copy_sources "$build/source"
    build "$build/source" "$build/demo-build" || exit 1
    httpd=$(sed -n 's/^HTTPD = //p' "$build/demo-build/Makefile")
    [ -x "$httpd" ] || die "httpd was not found; install apache2-bin"
    [ -f "$build/demo-build/.libs/mod_vault_nats.so" ] || die "mod_vault was built without NATS; install libnats-dev"
}

cluster_folder() {
    run=$(mktemp -d "${TMPDIR:-/tmp}/mod_vault-cluster.XXXXXX") || exit 1
    mkdir "$run/logs" "$run/modules" "$run/client" "$run/pids" "$run/run" || exit 1
    mkdir "$run/run/a" "$run/run/b" "$run/run/c" "$run/run/balancer" || exit 1
    cp -R "$build/source/htdocs" "$run/htdocs" || exit 1
    cp "$build/demo-build/conf/cluster.conf" "$build/source/conf/cluster.sql" "$run/" || exit 1
    cp "$build/demo-build/client/vault.js" "$run/client/" || exit 1
    cp -L "$build/demo-build/vaultctl/vaultctl" "$run/" || exit 1
    for module in mod_vault mod_vault_nats vault_feed_database; do
        cp -L "$build/demo-build/.libs/$module.so" "$run/modules/" || exit 1
    done
    chmod -R u+rwX,go+rX "$run"
    [ "$(id -u)" != 0 ] || chown -R www-data:www-data "$run" || exit 1
}

# run_part PART: become it
run_part() {
    VAULT_DEMO_NAME=$1
    VAULT_DEMO_LISTEN=$(port_of "$1")
    export VAULT_DEMO_NAME VAULT_DEMO_LISTEN
    cd "$run" || exit 1
    case $1 in
    postgres)
        cluster_as setsid "$(where_is postgres)" -D "$run/postgres" -p "$(port_of postgres)" -c listen_addresses=127.0.0.1 -c unix_socket_directories=
        ;;
    redis) cluster_as setsid redis-server --bind 127.0.0.1 --port "$(port_of redis)" --save '' --appendonly no --dir "$run" ;;
    nats*) cluster_as setsid "$(where_is nats-server)" -a 127.0.0.1 -p "$(port_of "$1")" ;;
    balancer) cluster_as setsid "$httpd" -d "$run" -f "$run/cluster.conf" -DFOREGROUND -DBALANCER ;;
    *) cluster_as setsid "$httpd" -d "$run" -f "$run/cluster.conf" -DFOREGROUND ;;
    esac
}

start_part() {
    run_part "$1" >>"$run/logs/$1.out" 2>&1 &
    echo $! >"$run/pids/$1"
}

pid_of() {
    cat "$run/pids/$1" 2>/dev/null
}

# Not of a part that has ended: the shell has collected it when a later command ended.
part_runs() {
    kill -0 "$(pid_of "$1")" 2>/dev/null
}

# wait_for PART COMMAND…: until the command succeeds, as long as the part lives
wait_for() {
    awaited=$1
    shift
    tries=600
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        if [ "$tries" = 0 ] || ! part_runs "$awaited"; then
            tail -n 15 "$run/logs/$awaited.out" "$run/logs/$awaited.log" >&2 2>/dev/null
            die "$awaited did not start"
        fi
        sleep 0.1
    done
}

# listens PART: its port takes connections
listens() {
    perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift, Timeout => 2)' "$(port_of "$1")"
}

# serves PART: the page is answered with 200
serves() {
    perl -MIO::Socket::INET -e '
        my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift, Timeout => 2) or exit 1;
        print $s "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"; exit(<$s> =~ / 200 / ? 0 : 1)' "$(port_of "$1")"
}

vaultctl_watch() {
    (cluster_as "$run/vaultctl" watch -y driver=pgsql database=postgres user=demo host=127.0.0.1 "port=$(port_of postgres)" "init=$run/cluster.sql" notes)
}

cluster_start() {
    (cluster_as "$(where_is initdb)" -D "$run/postgres" -U demo --auth=trust -E UTF8 --no-locale --no-sync) >"$run/logs/initdb.out" 2>&1 ||
        die "$(tail -n 5 "$run/logs/initdb.out")"
    for part in postgres redis nats1 nats2; do
        start_part "$part"
    done
    for part in redis nats1 nats2; do
        wait_for "$part" listens "$part"
    done
    wait_for postgres vaultctl_watch
    for part in a b c balancer; do
        start_part "$part"
    done
    for part in a b c balancer; do
        wait_for "$part" serves "$part"
    done
}

# A part that was killed alone may have left children: a part is a process group.
stop_cluster() {
    trap '' INT TERM HUP
    for part in balancer c b a nats1 nats2 redis postgres; do
        pid=$(pid_of "$part") || continue
        kill "-$([ "$part" = postgres ] && echo INT || echo TERM)" "$pid" 2>/dev/null
    done
    for part in $cluster_parts; do
        pid=$(pid_of "$part") || continue
        tries=150
        while kill -0 -- "-$pid" 2>/dev/null && [ "$tries" -gt 0 ]; do
            sleep 0.1
            tries=$((tries - 1))
        done
        kill -KILL -- "-$pid" 2>/dev/null
    done
    rm -rf "$run"
}

cluster_welcome() {
    cat <<END

  Three servers run behind a balancer at  http://localhost:$port/

  Open it in two browsers (or in a private window): each gets a server. Then end one, and watch its
  pages continue on another. Whatever ends is started again after five seconds.

END
    for part in $cluster_parts; do
        printf '    %-10s port %-6s kill -KILL -- -%s\n' "$part" "$(port_of "$part")" "$(pid_of "$part")"
    done
    printf '\n  %s\n\n' "Logs: $run/logs. Ctrl-C stops it."
}

# As systemd does with Restart=on-failure.
mend_cluster() {
    for part in $cluster_parts; do
        if ! part_runs "$part"; then
            say "$part has ended; it is started again in five seconds."
            kill -KILL -- "-$(pid_of "$part")" 2>/dev/null
            sleep 5
            start_part "$part"
            say "$part runs again: kill -KILL -- -$(pid_of "$part")"
        fi
    done
}

cluster() {
    cluster_prepare
    cluster_folder
    trap stop_cluster EXIT
    trap 'say "The cluster has stopped."; exit 0' INT TERM HUP
    for part in $cluster_parts; do
        name=$(echo "$part" | tr '[:lower:]' '[:upper:]')
        export "VAULT_DEMO_$name=$(port_of "$part")"
    done
    export VAULT_DEMO_RUN="$run"
    cluster_start
    cluster_welcome
    while :; do
        sleep 1
        mend_cluster
    done
}
