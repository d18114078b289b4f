-- What a sign-in that waits for its second factor adds to the session: the provider that the user signed in through, and the
-- permission to replace a provisional password (JSON).
ALTER TABLE verifications ADD COLUMN session TEXT;
