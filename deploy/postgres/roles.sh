#!/bin/sh
# Creates the database of Ostiary with its owner, and the role of the standby. The image of PostgreSQL runs this script once,
# when it creates the data of the primary.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres \
  --set=password="$DATABASE_PASSWORD" --set=replication="$REPLICATION_PASSWORD" <<'SQL'
CREATE ROLE ostiary LOGIN PASSWORD :'password';
CREATE DATABASE ostiary OWNER ostiary;
CREATE ROLE standby LOGIN REPLICATION PASSWORD :'replication';
SQL
echo 'host replication standby all scram-sha-256' >> "$PGDATA/pg_hba.conf"
