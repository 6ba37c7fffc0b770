-- An application need not have an address for support.

ALTER TABLE app_config ALTER COLUMN support_email DROP NOT NULL;
COMMENT ON COLUMN app_config.support_email IS 'Whom to mail when something does not work; null for nobody.';
