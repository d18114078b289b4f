-- Who wrote which part of a document of the built-in editor (docs/built-in-editor.md#authorship).

-- The author of each position of the snapshot, as compact JSON; null if it was stored by an earlier release.
ALTER TABLE document_snapshots ADD COLUMN authorship TEXT;

-- The submitted text with its authors, as JSON; null for other kinds of files and for earlier submissions.
ALTER TABLE submission_documents ADD COLUMN authorship TEXT;

-- The characters of the user in the text as it was last saved, and all characters of the text; null for documents that
-- were not edited in the built-in editor.
ALTER TABLE document_contributions ADD COLUMN characters BIGINT;
ALTER TABLE document_contributions ADD COLUMN text_characters BIGINT;
