-- Answers to authorization requests that have ended, kept for a minute: a browser that answers twice gets the same one again.
CREATE TABLE interaction_answers (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  payload text NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX interaction_answers_by_end ON interaction_answers (expires_at);
