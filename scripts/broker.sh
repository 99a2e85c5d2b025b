#!/usr/bin/env bash
# A private RabbitMQ node for tests and for trying a fleet out: its own data, ports, certificates,
# user and virtual host, all under one folder. Needs no init system, no root and no running
# rabbitmq-server service.
#
#   scripts/broker.sh start DIR   starts it in the background, waits until it serves, prints the broker's URL
#   scripts/broker.sh run DIR     the same in the foreground: this process becomes the node
#   scripts/broker.sh wait DIR    waits until the node of DIR serves
#   scripts/broker.sh url DIR     prints amqps://USER:PASSWORD@localhost:PORT/warpwright?ca=...&cert=...&key=...
#   scripts/broker.sh stop DIR    stops it in order; data and ports are kept, so `start` goes on where it was
#   scripts/broker.sh kill DIR    kill -9, as a crash would
#
# A node for production is set up as docs/operate/fleet.md says: this one listens on loopback only.
set -euo pipefail

usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -eq 2 ] || usage
action=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
start_limit_s=180

say() { echo "broker: $*" >&2; }

free_port() {
  local port
  for _ in $(seq 200); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) # below the ephemeral ports of Linux
    case " $* " in *" $port "*) continue ;; esac
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  say "no free port found"
  exit 1
}

make_certificates() {
  local certs=$dir/certs
  mkdir -p "$certs"
  for authority in ca other-ca; do # other-ca signs nothing: a client that trusts it only must be refused
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=warpwright test $authority" \
      -addext "keyUsage=critical,keyCertSign,cRLSign" \
      -keyout "$certs/$authority.key" -out "$certs/$authority.pem" 2>/dev/null
  done
  for name in server client; do
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$([ $name = server ] && echo localhost || echo warpwright)" \
      -keyout "$certs/$name.key" -out "$certs/$name.csr" 2>/dev/null
    openssl x509 -req -in "$certs/$name.csr" -days 3650 -CA "$certs/ca.pem" -CAkey "$certs/ca.key" -CAcreateserial \
      -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") -out "$certs/$name.pem" 2>/dev/null
  done
}

prepare() {
  [ -f "$dir/settings" ] && return
  umask 077
  make_certificates
  local tls plain distribution epmd
  tls=$(free_port)
  plain=$(free_port "$tls")
  distribution=$(free_port "$tls $plain")
  epmd=$(free_port "$tls $plain $distribution")
  cat >"$dir/settings.new" <<END
tls_port=$tls
plain_port=$plain
distribution_port=$distribution
epmd_port=$epmd
password=$(openssl rand -hex 16)
node=warpwright$tls@localhost
END
  # shellcheck disable=SC1091
  . "$dir/settings.new"
  cat >"$dir/rabbitmq.conf" <<END
listeners.ssl.default = 127.0.0.1:$tls_port
listeners.tcp.default = 127.0.0.1:$plain_port
ssl_options.cacertfile = $dir/certs/ca.pem
ssl_options.certfile = $dir/certs/server.pem
ssl_options.keyfile = $dir/certs/server.key
ssl_options.versions.1 = tlsv1.3
ssl_options.versions.2 = tlsv1.2
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = false
default_user = warpwright
default_pass = $password
default_vhost = warpwright
default_permissions.configure = ^warpwright\\.
default_permissions.read = ^(warpwright\\.|amq\\.default\$)
default_permissions.write = ^(warpwright\\.|amq\\.default\$)
# A job is acknowledged when its verdict is stored, which may be hours after its delivery.
consumer_timeout = 86400000
heartbeat = 10
disk_free_limit.absolute = 50MB
log.file.level = info
END
  echo '[].' >"$dir/enabled_plugins"
  : >"$dir/environment"
  mv "$dir/settings.new" "$dir/settings"
}

find_server() {
  for script in /usr/lib/rabbitmq/bin/rabbitmq-server "$(command -v rabbitmq-server || true)"; do
    [ -n "$script" ] && [ -x "$script" ] && { echo "$script"; return; }
  done
  say "rabbitmq-server is not installed; scripts/install-deps.sh installs it"
  exit 1
}

# This shell's process becomes the node's: killing it is killing the node.
run() {
  local server
  server=$(find_server)
  prepare
  # shellcheck disable=SC1091
  . "$dir/settings"
  export HOME=$dir RABBITMQ_NODENAME=$node RABBITMQ_USE_LONGNAME=false
  export RABBITMQ_CONFIG_FILE=$dir/rabbitmq.conf RABBITMQ_CONF_ENV_FILE=$dir/environment
  export RABBITMQ_MNESIA_BASE=$dir/mnesia RABBITMQ_LOG_BASE=$dir/log RABBITMQ_ENABLED_PLUGINS_FILE=$dir/enabled_plugins
  export RABBITMQ_PLUGINS_EXPAND_DIR=$dir/plugins RABBITMQ_GENERATED_CONFIG_DIR=$dir/config
  export RABBITMQ_PID_FILE=$dir/rabbitmq.pid RABBITMQ_DIST_PORT=$distribution_port RABBITMQ_FEATURE_FLAGS_FILE=$dir/feature_flags
  export ERL_EPMD_PORT=$epmd_port ERL_EPMD_ADDRESS=127.0.0.1 ERL_CRASH_DUMP_SECONDS=0
  # Idle schedulers must not spin beside the tests.
  export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+sbwt none +sbwtdcpu none +sbwtdio none +S 2:2"
  export RUNNING_UNDER_SYSTEMD=1 # the start script then replaces itself by the node instead of watching over it
  unset NOTIFY_SOCKET ERL_FLAGS
  mkdir -p "$dir/log"
  echo $$ >"$dir/node.pid"
  # The name service of the node's own, which ends with it.
  setpriv --pdeathsig KILL epmd -address 127.0.0.1 -port "$epmd_port" </dev/null >/dev/null 2>&1 &
  disown
  # Else the node would start one of its own, which outlives it.
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$epmd_port") 2>/dev/null && break
    sleep 0.02
  done
  cd "$dir"
  exec "$server" </dev/null >>"$dir/log/console.log" 2>&1
}

is_running() { [ -s "$dir/node.pid" ] && kill -0 "$(cat "$dir/node.pid")" 2>/dev/null; }

# By a TLS handshake: the listener opens last, after the queues have been recovered.
wait_until_served() {
  # shellcheck disable=SC1091
  local deadline=$((SECONDS + start_limit_s))
  while [ $SECONDS -lt $deadline ]; do
    if [ -f "$dir/settings" ]; then
      . "$dir/settings"
      (exec 3<>"/dev/tcp/127.0.0.1/$tls_port") 2>/dev/null && return
    fi
    [ "${1:-}" != watched ] || is_running || { say "the node ended while it started:"; tail -n 20 "$dir/log/console.log" >&2; exit 1; }
    sleep 0.1
  done
  say "the node did not serve within $start_limit_s s; see $dir/log"
  exit 1
}

print_url() {
  [ -f "$dir/settings" ] || { say "$dir holds no broker; start one: scripts/broker.sh start $dir"; exit 1; }
  # shellcheck disable=SC1091
  . "$dir/settings"
  echo "amqps://warpwright:$password@localhost:$tls_port/warpwright?ca=$dir/certs/ca.pem&cert=$dir/certs/client.pem&key=$dir/certs/client.key"
}

end_with() {
  local node deadline=$((SECONDS + 60))
  node=$(cat "$dir/node.pid")
  kill "-$1" "$node"
  while kill -0 "$node" 2>/dev/null && [ $SECONDS -lt $deadline ]; do sleep 0.1; done
  rm -f "$dir/node.pid"
}

case $action in
  run) run ;;
  start)
    if is_running; then say "the node of $dir runs already"; else
      prepare
      setsid "$0" run "$dir" </dev/null >/dev/null 2>&1 &
      echo $! >"$dir/node.pid"
    fi
    wait_until_served watched
    print_url
    ;;
  wait) wait_until_served ;;
  url) prepare; print_url ;;
  stop | kill)
    is_running || { say "no node of $dir runs"; exit 0; }
    end_with "$([ "$action" = stop ] && echo TERM || echo KILL)"
    ;;
  *) usage ;;
esac
