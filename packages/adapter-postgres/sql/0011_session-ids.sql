-- The session of a sign-in, as apps see it; null in grants that were stored before.
ALTER TABLE grants ADD COLUMN sid text;
