-- What the server says to people: the words of each language, and in which language and zone somebody reads them.

CREATE TABLE locale (
  name text COLLATE "C" CONSTRAINT locale_name_primary PRIMARY KEY
    CONSTRAINT locale_name_form CHECK (name ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'));
COMMENT ON TABLE locale IS 'One language that has phrases, or a dialect of one.';
COMMENT ON COLUMN locale.name IS 'The language tag, such as es or es-MX.';
COMMENT ON CONSTRAINT locale_name_form ON locale IS 'unreachable';

-- In one pass, and without a loop: a page of notifications has as little to do as if their texts were stored.
CREATE FUNCTION format_of(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(regexp_replace(replace(replace(words, '%', '%%'), '{actor}', '%1$s'),
    '\{(brand|note)\}', '%3$s', 'g'), '\{[a-z]+\}', '%2$s', 'g')
$$;
COMMENT ON FUNCTION format_of IS
  'Returns words in the form that format() takes: the actor is its first value, a brand or a note its third, and '
  'whatever else there is its second.';

CREATE TABLE phrase (
  locale text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  form text COLLATE "C" NOT NULL DEFAULT 'other' CONSTRAINT phrase_form_known
    CHECK (form IN ('zero', 'one', 'two', 'few', 'many', 'other')),
  words text NOT NULL,
  template text GENERATED ALWAYS AS (format_of(words)) STORED,
  is_shipped boolean NOT NULL DEFAULT false,
  CONSTRAINT phrase_key_once PRIMARY KEY (locale, key, form, is_shipped));
COMMENT ON TABLE phrase IS 'One phrase in one language, or one plural form of it.';
COMMENT ON COLUMN phrase.locale IS 'The language tag, such as es or es-MX.';
COMMENT ON COLUMN phrase.key IS
  'The name, from the general to the special, separated by dots. REACTED.HEART.photo_post stands before REACTED.HEART.';
COMMENT ON COLUMN phrase.form IS 'The plural form for the value of {count}, as Unicode''s CLDR names it.';
COMMENT ON COLUMN phrase.words IS 'The text. Names between braces stand for values.';
COMMENT ON COLUMN phrase.template IS 'The words as format() takes them. For notifications.';
COMMENT ON COLUMN phrase.is_shipped IS
  'Whether the phrase is from sql/phrases, and replaced with these files. Those of the operator come before.';
COMMENT ON CONSTRAINT phrase_form_known ON phrase IS 'unreachable';

CREATE TABLE user_setting (
  user_id bigint CONSTRAINT user_setting_user_primary PRIMARY KEY
    CONSTRAINT user_setting_user_exists REFERENCES app_user ON DELETE CASCADE,
  locale text CONSTRAINT user_setting_locale_length CHECK (length(locale) <= 35),
  time_zone text CONSTRAINT user_setting_time_zone_length CHECK (length(time_zone) <= 64),
  quiet_from time,
  quiet_to time,
  is_naming_people boolean NOT NULL DEFAULT true,
  CONSTRAINT user_setting_quiet_given CHECK ((quiet_from IS NULL) = (quiet_to IS NULL) AND quiet_from <> quiet_to));
COMMENT ON TABLE user_setting IS 'What one user has chosen for their own eyes. Most have no row.';
COMMENT ON COLUMN user_setting.locale IS 'The language tag of texts for the user. Null to go by each request.';
COMMENT ON COLUMN user_setting.time_zone IS 'The name of the time zone, such as Europe/Madrid. Null for UTC.';
COMMENT ON COLUMN user_setting.quiet_from IS
  'The time of day, in the time zone, from which push messages only change numbers. Null if they never do.';
COMMENT ON COLUMN user_setting.quiet_to IS 'The time of day at which that ends, perhaps of the next day.';
COMMENT ON COLUMN user_setting.is_naming_people IS 'Whether push messages name people.';
COMMENT ON CONSTRAINT user_setting_quiet_given ON user_setting IS 'unreachable';
COMMENT ON CONSTRAINT user_setting_locale_length ON user_setting IS 'unreachable';
COMMENT ON CONSTRAINT user_setting_time_zone_length ON user_setting IS 'unreachable';
