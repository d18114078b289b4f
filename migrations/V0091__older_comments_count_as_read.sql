-- Comments that are older than the reading marks count as read by the members of the group and the teachers of its class:
-- otherwise an upgrade would show all of them as new.
INSERT INTO comment_reads (organization_id, document_id, user_id, read_until)
SELECT latest.organization_id, latest.document_id, p.user_id, latest.read_until
FROM (
    SELECT t.organization_id, t.document_id, MAX(COALESCE(c.edited_at, c.created_at)) AS read_until
    FROM comment_threads t
    JOIN document_comments c ON c.organization_id = t.organization_id AND c.thread_id = t.id
    GROUP BY t.organization_id, t.document_id
) latest
JOIN documents d ON d.organization_id = latest.organization_id AND d.id = latest.document_id
JOIN work_rooms w ON w.organization_id = d.organization_id AND w.id = d.work_room_id
JOIN (
    SELECT group_id, user_id FROM group_members
    UNION SELECT g.id, k.teacher_id FROM groups g
        JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
    UNION SELECT g.id, ct.user_id FROM groups g
        JOIN class_teachers ct ON ct.organization_id = g.organization_id AND ct.class_id = g.class_id
) p ON p.group_id = w.group_id
WHERE p.user_id IS NOT NULL
ON CONFLICT (document_id, user_id) DO NOTHING;
