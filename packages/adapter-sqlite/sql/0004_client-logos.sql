-- What the pages show beside the name of a client, PNG. Apart from the clients, which every request reads.
CREATE TABLE client_logos (
  client_id TEXT PRIMARY KEY NOT NULL REFERENCES clients (client_id),
  png BLOB NOT NULL
) STRICT, WITHOUT ROWID;
