-- Whose work a job is: `mode:partner`, and '' for the host's own. Claims take of each owner its share, and walk from one owner to
-- the next along this index.
ALTER TABLE jobs ADD COLUMN owner TEXT NOT NULL DEFAULT '';

CREATE INDEX jobs_by_owner ON jobs (kind, owner, due_at);
