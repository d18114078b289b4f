-- "Who of these people has something open?" is asked after every change of membership.
CREATE INDEX editing_sessions_organization_idx ON editing_sessions (organization_id, document_id, generation);
