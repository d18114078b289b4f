-- The ID token of a session that a provider opened, encrypted. The provider receives it with the sign-out, so that it need not
-- ask whom to sign out (docs/single-sign-on.md#sign-out).
ALTER TABLE sessions ADD COLUMN sign_on_id_token TEXT;
