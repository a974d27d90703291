-- Answers to authorization requests that have ended, kept for a minute: a browser that answers twice gets the same one again.
CREATE TABLE interaction_answers (
  digest BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
  payload TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX interaction_answers_by_end ON interaction_answers (expires_at);
