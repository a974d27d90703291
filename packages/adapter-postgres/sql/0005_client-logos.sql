-- What the pages show beside the name of a client, PNG. Apart from the clients, which every request reads.
CREATE TABLE client_logos (
  client_id text COLLATE "C" PRIMARY KEY REFERENCES clients (client_id),
  png bytea NOT NULL
);
