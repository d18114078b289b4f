-- The shared room of a group and its chat.

CREATE TABLE work_rooms (
    organization_id  TEXT   NOT NULL,
    id               TEXT   NOT NULL PRIMARY KEY,
    group_id         TEXT   NOT NULL,
    -- The source of work_room_messages.seq: raising it locks the row, so a room numbers its messages without gaps.
    last_message_seq BIGINT NOT NULL DEFAULT 0,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    -- Rule 1: exactly one room per group.
    CONSTRAINT work_rooms_group_key UNIQUE (group_id),
    CONSTRAINT work_rooms_id_organization_key UNIQUE (id, organization_id),
    CONSTRAINT work_rooms_group_fkey FOREIGN KEY (group_id, organization_id)
        REFERENCES groups (id, organization_id)
);
-- GET /workrooms of a whole school.
CREATE INDEX work_rooms_organization_idx ON work_rooms (organization_id, id);

CREATE TABLE work_room_messages (
    organization_id   TEXT   NOT NULL,
    id                TEXT   NOT NULL PRIMARY KEY,
    work_room_id      TEXT   NOT NULL,
    seq               BIGINT NOT NULL,
    sender_id         TEXT,
    type              TEXT   NOT NULL DEFAULT 'TEXT',
    -- Kept for 30 days after deleted_at for moderation; every view answers "" meanwhile.
    content           TEXT   NOT NULL,
    reply_to_id       TEXT,
    client_message_id TEXT,
    created_at        BIGINT NOT NULL,
    edited_at         BIGINT,
    deleted_at        BIGINT,
    deleted_by_id     TEXT,
    CONSTRAINT work_room_messages_room_seq_key UNIQUE (work_room_id, seq),
    CONSTRAINT work_room_messages_client_message_key UNIQUE (work_room_id, sender_id, client_message_id),
    CONSTRAINT work_room_messages_id_room_organization_key UNIQUE (id, work_room_id, organization_id),
    CONSTRAINT work_room_messages_type_check CHECK (type IN ('TEXT', 'FILE', 'SYSTEM')),
    CONSTRAINT work_room_messages_seq_check CHECK (seq >= 1),
    CONSTRAINT work_room_messages_room_fkey FOREIGN KEY (work_room_id, organization_id)
        REFERENCES work_rooms (id, organization_id),
    CONSTRAINT work_room_messages_sender_fkey FOREIGN KEY (sender_id) REFERENCES users (id),
    CONSTRAINT work_room_messages_deleted_by_fkey FOREIGN KEY (deleted_by_id) REFERENCES users (id),
    -- An answer stays in the room of its question.
    CONSTRAINT work_room_messages_reply_to_fkey FOREIGN KEY (reply_to_id, work_room_id, organization_id)
        REFERENCES work_room_messages (id, work_room_id, organization_id)
);
CREATE INDEX work_room_messages_reply_to_idx ON work_room_messages (reply_to_id)
    WHERE reply_to_id IS NOT NULL;
-- The end of the moderation time.
CREATE INDEX work_room_messages_deleted_idx ON work_room_messages (deleted_at)
    WHERE deleted_at IS NOT NULL;

-- Uploaded first, then named by a message; message_id is null in between.
CREATE TABLE message_attachments (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    work_room_id    TEXT   NOT NULL,
    message_id      TEXT,
    file_name       TEXT   NOT NULL,
    mime_type       TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    file_key        TEXT   NOT NULL,
    uploaded_by_id  TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    CONSTRAINT message_attachments_file_key_key UNIQUE (file_key),
    CONSTRAINT message_attachments_size_check CHECK (size >= 0),
    CONSTRAINT message_attachments_room_fkey FOREIGN KEY (work_room_id, organization_id)
        REFERENCES work_rooms (id, organization_id),
    CONSTRAINT message_attachments_message_fkey FOREIGN KEY (message_id, work_room_id, organization_id)
        REFERENCES work_room_messages (id, work_room_id, organization_id),
    CONSTRAINT message_attachments_uploaded_by_fkey FOREIGN KEY (uploaded_by_id) REFERENCES users (id)
);
CREATE INDEX message_attachments_room_idx ON message_attachments (work_room_id);
CREATE INDEX message_attachments_message_idx ON message_attachments (message_id);
-- Files that no message ever named.
CREATE INDEX message_attachments_unused_idx ON message_attachments (created_at)
    WHERE message_id IS NULL;

CREATE TABLE work_room_reads (
    organization_id TEXT   NOT NULL,
    work_room_id    TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    -- Unread messages are those with a higher seq from somebody else.
    last_read_seq   BIGINT NOT NULL DEFAULT 0,
    last_read_at    BIGINT NOT NULL,
    PRIMARY KEY (work_room_id, user_id),
    CONSTRAINT work_room_reads_room_fkey FOREIGN KEY (work_room_id, organization_id)
        REFERENCES work_rooms (id, organization_id),
    CONSTRAINT work_room_reads_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX work_room_reads_user_idx ON work_room_reads (user_id, organization_id);
