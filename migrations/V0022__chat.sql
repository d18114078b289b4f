-- The chat of work rooms.

-- What a person wrote after the own reading mark: it is not unread for its author, and a list of rooms has to subtract it
-- without counting messages.
ALTER TABLE work_room_reads ADD COLUMN own_after BIGINT NOT NULL DEFAULT 0;
UPDATE work_room_reads SET own_after = (SELECT COUNT(*) FROM work_room_messages m
    WHERE m.work_room_id = work_room_reads.work_room_id AND m.sender_id = work_room_reads.user_id
        AND m.seq > work_room_reads.last_read_seq);
