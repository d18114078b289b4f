-- Pictures that were added to a document in the built-in editor. The pictures of its file are in the file.
CREATE TABLE document_images (
    organization_id TEXT   NOT NULL,
    id              TEXT   NOT NULL PRIMARY KEY,
    document_id     TEXT   NOT NULL,
    mime_type       TEXT   NOT NULL,
    size            BIGINT NOT NULL,
    sha256          TEXT   NOT NULL,
    file_key        TEXT   NOT NULL,
    width           BIGINT NOT NULL,
    height          BIGINT NOT NULL,
    uploaded_by_id  TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    CONSTRAINT document_images_file_key_key UNIQUE (file_key),
    CONSTRAINT document_images_document_fkey FOREIGN KEY (document_id, organization_id)
        REFERENCES documents (id, organization_id),
    CONSTRAINT document_images_uploaded_by_fkey FOREIGN KEY (uploaded_by_id) REFERENCES users (id)
);
CREATE INDEX document_images_document_idx ON document_images (document_id, organization_id);
-- The export of a person.
CREATE INDEX document_images_uploaded_by_idx ON document_images (uploaded_by_id, organization_id);

-- The pictures of the file with which a generation began: id, part and media type, as JSON.
ALTER TABLE document_logs ADD COLUMN images TEXT NOT NULL DEFAULT '[]';
