-- Whether a user has ended a consent, which those that come from elsewhere must not bring back.
CREATE INDEX consents_revoked ON consents (sub, client_id) WHERE revoked_at IS NOT NULL;
