-- Nothing gives a job up: one that fails is tried again. So no job is kept that is not claimed.
DROP INDEX jobs_due;
DROP INDEX jobs_dropped;
ALTER TABLE jobs DROP COLUMN dropped_at;
CREATE INDEX jobs_due ON jobs (kind, due_at);
