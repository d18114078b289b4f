-- Mail domains of a school: proven by a TXT record of the domain, or set by a SUPER_ADMIN. Of the schools that prove a
-- domain themselves only one holds it at a time; a SUPER_ADMIN may let others hold it, too.
CREATE TABLE mail_domains (
    organization_id TEXT   NOT NULL REFERENCES organizations (id),
    id              TEXT   NOT NULL PRIMARY KEY,
    domain          TEXT   NOT NULL,
    method          TEXT   NOT NULL,
    status          TEXT   NOT NULL,
    token           TEXT   NOT NULL,
    verified_at     BIGINT,
    checked_at      BIGINT,
    failing_since   BIGINT,
    failed_checks   BIGINT NOT NULL DEFAULT 0,
    next_check_at   BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    CONSTRAINT mail_domains_organization_domain_key UNIQUE (organization_id, domain)
);
CREATE UNIQUE INDEX mail_domains_dns_holder_key ON mail_domains (domain)
    WHERE method = 'DNS' AND status = 'VERIFIED';
CREATE INDEX mail_domains_domain_index ON mail_domains (domain);
CREATE INDEX mail_domains_next_check_index ON mail_domains (next_check_at);
