-- Whoever loses the right to act as others, or ends all his sessions, ends those in which he does: found by who he is, among
-- the sessions of everybody.
CREATE INDEX sessions_impersonated_by_idx ON sessions (impersonated_by) WHERE impersonated_by IS NOT NULL;
