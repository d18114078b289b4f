-- Messages from person to person and announcements to a class. Posts into rooms are work_room_messages.

CREATE TABLE direct_messages (
    organization_id      TEXT   NOT NULL,
    id                   TEXT   NOT NULL PRIMARY KEY,
    sender_id            TEXT   NOT NULL,
    -- Set: an announcement to this class.
    class_id             TEXT,
    subject              TEXT,
    content              TEXT   NOT NULL,
    created_at           BIGINT NOT NULL,
    -- Gone from the sender's own view only.
    deleted_by_sender_at BIGINT,
    CONSTRAINT direct_messages_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT direct_messages_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT direct_messages_sender_fkey FOREIGN KEY (sender_id) REFERENCES users (id),
    CONSTRAINT direct_messages_class_fkey FOREIGN KEY (class_id, organization_id)
        REFERENCES classes (id, organization_id)
);
-- The boxes "sent" and "class", newest first.
CREATE INDEX direct_messages_sender_idx ON direct_messages (sender_id, organization_id, created_at, id);
CREATE INDEX direct_messages_class_idx ON direct_messages (class_id, organization_id, created_at, id);
-- The purge of an organization.
CREATE INDEX direct_messages_organization_idx ON direct_messages (organization_id, id);

CREATE TABLE message_recipients (
    organization_id TEXT   NOT NULL,
    message_id      TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    read_at         BIGINT,
    deleted_at      BIGINT,
    -- Copied from the message, so that one index walks the inbox.
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (message_id, user_id),
    CONSTRAINT message_recipients_message_fkey FOREIGN KEY (message_id, organization_id)
        REFERENCES direct_messages (id, organization_id),
    CONSTRAINT message_recipients_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX message_recipients_inbox_idx ON message_recipients (user_id, organization_id, created_at, message_id);
-- GET /messages/unread-count.
CREATE INDEX message_recipients_unread_idx ON message_recipients (user_id, organization_id)
    WHERE read_at IS NULL AND deleted_at IS NULL;
