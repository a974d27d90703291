#!/bin/bash
# Does for Debian's PostgreSQL what the entry point of the image `postgres` does: creates the data of a new server with the
# password of the superuser, runs the scripts of /docker-entrypoint-initdb.d, and then starts the server.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  # shellcheck disable=SC2086
  initdb --pgdata="$PGDATA" --username=postgres --pwfile=<(echo "$POSTGRES_PASSWORD") $POSTGRES_INITDB_ARGS
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --wait --options='-c listen_addresses=' start
  for script in /docker-entrypoint-initdb.d/*; do "$script"; done
  pg_ctl --pgdata="$PGDATA" --wait --mode=fast stop
fi
exec "$@" -c listen_addresses='*'
