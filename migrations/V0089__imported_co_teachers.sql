-- Who added a co-teacher: 'person' or 'import'. A roster removes only co-teachers whom an import added (docs/rosters.md). It is
-- unknown for co-teachers of earlier releases, who stay.
ALTER TABLE class_teachers ADD COLUMN added_by TEXT CHECK (added_by IN ('person', 'import'));
