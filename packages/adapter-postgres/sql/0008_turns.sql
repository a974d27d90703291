-- Owners take turns at claims: who has waited longest is the one whose latest row is the oldest.
CREATE INDEX endpoint_queues_by_turn ON endpoint_queues (partner, mode, served_at);
DROP INDEX endpoint_queues_by_owner;
