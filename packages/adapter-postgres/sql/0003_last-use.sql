-- When a code was last issued for a consent: at most an hour too early. NULL: not since this column is there.
ALTER TABLE consents ADD COLUMN used_at bigint;
