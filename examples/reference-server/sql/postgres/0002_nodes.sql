
      CREATE TABLE nodes (
        id text PRIMARY KEY,
        role text NOT NULL,
        facts text NOT NULL,
        started_at bigint NOT NULL,
        seen_at bigint NOT NULL
      ) WITH (fillfactor = 50);