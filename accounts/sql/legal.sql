-- Documents and consents are never changed, and consents are counted.
--
-- A published document stays as it was when members agreed to it. Consents are deleted
-- with the account alone; what they were stays in the counts, of which rows are only
-- added.

-- migrate:up
CREATE OR REPLACE FUNCTION refuse_legal_change()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% never changes', TG_TABLE_NAME
    USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE OR REPLACE FUNCTION count_consents()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO consent_count (document_id, accepted, count)
    SELECT document_id, accepted, count(*) FROM new_rows GROUP BY 1, 2;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER refuse_document_change
BEFORE UPDATE OR DELETE ON legal_document
FOR EACH STATEMENT EXECUTE FUNCTION refuse_legal_change();

CREATE OR REPLACE TRIGGER refuse_consent_change
BEFORE UPDATE ON consent
FOR EACH STATEMENT EXECUTE FUNCTION refuse_legal_change();

CREATE OR REPLACE TRIGGER count_consents
AFTER INSERT ON consent
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION count_consents();

-- migrate:down
DROP TRIGGER refuse_document_change ON legal_document;
DROP TRIGGER refuse_consent_change ON consent;
DROP TRIGGER count_consents ON consent;
DROP FUNCTION refuse_legal_change();
DROP FUNCTION count_consents();
