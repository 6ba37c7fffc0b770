-- A database that is awkward to draft a schema over: names, keys and types of every kind.

COMMENT ON SCHEMA public IS 'Nothing is drafted from this.';

-- Names

CREATE TABLE "Order Item" (
  "Item No" integer PRIMARY KEY,
  "select" text NOT NULL,
  "camelCase" text,
  "ALLCAPS" text,
  "address_line_1" text,
  "2nd" text,
  "größe" numeric,
  "with""quote" text,
  "semi;colon" text,
  "colon:name" text,
  "__hidden" text,
  "camel_case" text
);
COMMENT ON TABLE "Order Item" IS E'An item of an order.\n\nIts \\ and "quotes" stay.\n@omit delete';
COMMENT ON COLUMN "Order Item"."select" IS 'A "word" that SQL reserves.';
INSERT INTO "Order Item" VALUES
  (1, 'a', 'b', 'c', 'd', 'e', 1.50, 'f', 'g', 'h', 'i', 'j'),
  (2, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE "user" (id bigint PRIMARY KEY, viewer text UNIQUE, "limit" integer, key1 integer,
  UNIQUE ("limit", key1));
INSERT INTO "user" VALUES (9007199254740993, 'ann', 1, 2), (2, 'bob', 2, 1);

CREATE TABLE users (id integer PRIMARY KEY);
INSERT INTO users VALUES (1);

CREATE TABLE query (id integer PRIMARY KEY, type text, "schema" text);
INSERT INTO query VALUES (1, 'a', 'b');

CREATE TABLE charge (id integer PRIMARY KEY, connection text, node text, cursor text);
INSERT INTO charge VALUES (1, 'x', 'y', 'z');
CREATE TABLE charge_filters (id integer PRIMARY KEY, charge_id integer REFERENCES charge);
CREATE TABLE charge_orders (id integer PRIMARY KEY, charge_id integer REFERENCES charge);
CREATE TABLE charge_connections (id integer PRIMARY KEY, charge_id integer NOT NULL REFERENCES charge);
CREATE TABLE charge_edge (id integer PRIMARY KEY, charge_id integer UNIQUE REFERENCES charge);
INSERT INTO charge_filters VALUES (1, 1), (2, NULL);
INSERT INTO charge_connections VALUES (7, 1);
INSERT INTO charge_edge VALUES (8, 1);

CREATE TABLE news (id integer PRIMARY KEY, title text NOT NULL);
INSERT INTO news VALUES (1, 'One'), (2, 'Two');

CREATE TABLE "таблица" ("номер" integer PRIMARY KEY, "имя" text);
INSERT INTO "таблица" VALUES (1, 'раз');

CREATE TABLE date (id integer PRIMARY KEY, day date);
INSERT INTO date VALUES (1, '2026-05-01');

CREATE TABLE film (id integer PRIMARY KEY, film text);
CREATE TABLE "Film" (id integer PRIMARY KEY, film text);
INSERT INTO film VALUES (1, 'small');
INSERT INTO "Film" VALUES (1, 'large');

-- Keys

CREATE TABLE tenant (id uuid PRIMARY KEY, code char(4) NOT NULL UNIQUE);
INSERT INTO tenant VALUES ('6f9619ff-8b86-d011-b42d-00c04fc964ff', 'ab'),
  ('7f9619ff-8b86-d011-b42d-00c04fc964ff', 'abcd');

CREATE TABLE member (
  tenant_id uuid NOT NULL REFERENCES tenant,
  "memberNo" smallint NOT NULL,
  name varchar(20) NOT NULL,
  boss_no smallint,
  PRIMARY KEY (tenant_id, "memberNo"),
  FOREIGN KEY (tenant_id, boss_no) REFERENCES member (tenant_id, "memberNo")
);
INSERT INTO member VALUES ('6f9619ff-8b86-d011-b42d-00c04fc964ff', 1, 'Ada', NULL),
  ('6f9619ff-8b86-d011-b42d-00c04fc964ff', 2, 'Ben', 1),
  ('7f9619ff-8b86-d011-b42d-00c04fc964ff', 1, 'Cem', 1);

CREATE TABLE badge (
  tenant_id uuid, member_no smallint, color text,
  PRIMARY KEY (tenant_id, member_no),
  FOREIGN KEY (tenant_id, member_no) REFERENCES member (tenant_id, "memberNo")
);
INSERT INTO badge VALUES ('6f9619ff-8b86-d011-b42d-00c04fc964ff', 2, 'red');

CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO country VALUES ('AT', 'Austria'), ('NO', 'Norway');
CREATE TABLE city (
  name text NOT NULL, country char(2) NOT NULL REFERENCES country,
  twin_name text, twin_country char(2),
  PRIMARY KEY (country, name),
  FOREIGN KEY (twin_country, twin_name) REFERENCES city (country, name)
);
INSERT INTO city VALUES ('Wien', 'AT', NULL, NULL), ('Oslo', 'NO', 'Wien', 'AT');
CREATE TABLE visit (
  at timestamp PRIMARY KEY, "from" text NOT NULL REFERENCES country (name),
  to_country_id char(2) REFERENCES country
);
INSERT INTO visit VALUES ('2026-05-01 12:00:00.123456', 'Austria', 'NO');

CREATE TABLE keyless (a integer, b text);
INSERT INTO keyless VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
CREATE TABLE keyless_child (country char(2) REFERENCES country, note text);
INSERT INTO keyless_child VALUES ('AT', 'one'), ('AT', 'two');
CREATE TABLE nullable_key (a integer UNIQUE, b integer NOT NULL UNIQUE);
INSERT INTO nullable_key VALUES (NULL, 1), (NULL, 2), (3, 3);
CREATE TABLE nullable_only (a integer UNIQUE, b text);
INSERT INTO nullable_only VALUES (NULL, 'x'), (NULL, 'y'), (3, 'z');

-- References

CREATE TABLE person (
  person_id serial PRIMARY KEY, name text NOT NULL,
  parent_id integer REFERENCES person, spouse_id integer UNIQUE REFERENCES person
);
INSERT INTO person (name, parent_id, spouse_id) VALUES ('Eva', NULL, 2), ('Finn', NULL, 1), ('Gus', 1, NULL);

CREATE TABLE address (address_id integer PRIMARY KEY, street text NOT NULL);
INSERT INTO address VALUES (1, 'High Street'), (2, 'Low Street');
CREATE TABLE shipment (
  shipment_id integer PRIMARY KEY,
  billing_address_id integer NOT NULL REFERENCES address,
  shipping_address_id integer REFERENCES address,
  carrier integer REFERENCES person
);
INSERT INTO shipment VALUES (1, 1, 2, 1), (2, 1, NULL, NULL);

CREATE TABLE follow (
  follower_id integer REFERENCES person, followee_id integer REFERENCES person,
  since timestamptz NOT NULL, PRIMARY KEY (follower_id, followee_id)
);
INSERT INTO follow VALUES (1, 2, '2026-05-01 12:00Z'), (3, 2, '2026-05-02 12:00Z');
CREATE TABLE tag (tag_id integer PRIMARY KEY, name text NOT NULL);
INSERT INTO tag VALUES (1, 'new'), (2, 'old');
CREATE TABLE address_tag (
  address_id integer NOT NULL REFERENCES address, tag_id integer NOT NULL REFERENCES tag,
  UNIQUE (tag_id, address_id)
);
CREATE TABLE pinned_tag (
  tag_id integer NOT NULL REFERENCES tag, address_id integer NOT NULL REFERENCES address,
  PRIMARY KEY (tag_id, address_id)
);
INSERT INTO address_tag VALUES (1, 1), (1, 2), (2, 2);
INSERT INTO pinned_tag VALUES (1, 1);

CREATE TABLE chicken (id integer PRIMARY KEY, egg_id integer NOT NULL);
CREATE TABLE egg (id integer PRIMARY KEY, chicken_id integer NOT NULL REFERENCES chicken);
INSERT INTO chicken VALUES (1, 1);
INSERT INTO egg VALUES (1, 1);
ALTER TABLE chicken ADD FOREIGN KEY (egg_id) REFERENCES egg;

-- Types

CREATE TYPE mood AS ENUM ('happy', 'so-so', 'PG-13', 'true', '', '13', 'so_so');
CREATE TYPE nothing AS ENUM ();
CREATE TYPE pair AS (a integer, b text);
CREATE DOMAIN year AS integer CHECK (VALUE BETWEEN 1900 AND 2100);
CREATE DOMAIN email AS text NOT NULL;
CREATE DOMAIN moods AS mood[];
CREATE TABLE specimen (
  id smallint PRIMARY KEY, t text, v varchar(9), c char(5), n name, b boolean, i2 int2, i4 int4, i8 int8,
  f4 float4, f8 float8, nu numeric(12, 3), mo money, d date, ti time, ttz timetz, ts timestamp,
  tstz timestamptz, iv interval, u uuid, j json, jb jsonb, x xml, by bytea, inet inet, cidr cidr,
  mac macaddr, mac8 macaddr8, bi bit(5), vb varbit, one "char", pt point, box box, path path, poly polygon,
  circle circle, line line, lseg lseg, r4 int4range, rnum numrange, rts tsrange, rtz tstzrange, rd daterange,
  mr int4multirange, tsv tsvector, tsq tsquery, o oid, reg regclass, lsn pg_lsn, jp jsonpath, mood mood,
  moods mood[], dmoods moods, nothing nothing, pair pair, pairs pair[], year year, years year[],
  email email, ia int4[], iaa int4[][], ta text[], ua uuid[], ja jsonb[], da date[], na numeric[], ba boolean[],
  gen integer GENERATED ALWAYS AS (i4 * 2) STORED, ident integer GENERATED ALWAYS AS IDENTITY
);
INSERT INTO specimen VALUES (1, 'text', 'var', 'ch', 'name', true, 2, 4, 9007199254740993,
  9.8, 2.5, 129.900, 12.34, '2026-05-01', '18:30', '18:30+02', '2026-05-01 18:30:00.5',
  '2026-05-01 18:30Z', '1 day 02:03:04', '6f9619ff-8b86-d011-b42d-00c04fc964ff', '{"a" : 1}', '{"b": [1, null]}',
  '<a/>', '\x48', '192.168.0.1/24', '192.168.0.0/24', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '10101',
  '101', 'x', '(1,2)', '(1,2),(3,4)', '((0,0),(1,1))', '((0,0),(1,1),(1,0))', '<(0,0),1>', '{1,2,3}',
  '((0,0),(1,1))', '[1,10)', '[1.5,2.5)', '[2026-05-01,2026-06-01)', '[2026-05-01,2026-06-01)',
  '[2026-05-01,2026-06-01)', '{[1,3),[5,7)}', 'a b', 'a & b', 42, 'specimen', '0/16B3748', '$.a', 'PG-13',
  '{happy,so-so,NULL}', '{"true"}', NULL, '(1,"a b")', '{"(1,x)"}', 2006, '{1999,2000}', 'a@b.c', '{1,NULL,3}',
  '{{1,2},{3,4}}', '{a,"b c",NULL}', '{6f9619ff-8b86-d011-b42d-00c04fc964ff}', ARRAY['{"a": 1}'::jsonb],
  '{2026-05-01}', '{1.50,2}', '{true,false}');
INSERT INTO specimen (id, email) VALUES (2, '');

-- Other relations

CREATE VIEW grown AS SELECT person_id AS id, name FROM person WHERE parent_id IS NULL;
CREATE VIEW keyed AS SELECT person_id AS id, name FROM person;
COMMENT ON VIEW keyed IS E'People.\n@primaryKey id';
CREATE MATERIALIZED VIEW counted AS SELECT name, count(*) AS total FROM person GROUP BY name;
CREATE UNIQUE INDEX ON counted (name);
CREATE TABLE reading (
  sensor integer NOT NULL, at date NOT NULL, value float8, country char(2) REFERENCES country,
  PRIMARY KEY (sensor, at)
) PARTITION BY RANGE (at);
CREATE TABLE reading_2025 PARTITION OF reading FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE reading_2026 PARTITION OF reading FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
INSERT INTO reading VALUES (1, '2025-06-01', 1.5, 'AT'), (1, '2026-06-01', 2.5, NULL);
CREATE TABLE without_columns ();
CREATE TABLE secret (id integer PRIMARY KEY, name text, pin text);
INSERT INTO secret VALUES (1, 'a', '1234');

-- A namespace with a table of the same name

CREATE SCHEMA "Other One";
CREATE TABLE "Other One".country (id integer PRIMARY KEY, home char(2) REFERENCES public.country);
INSERT INTO "Other One".country VALUES (1, 'AT');

-- The filter of wheel_relation has the name that the relations of wheel would have.
CREATE TABLE wheel_relation (id integer PRIMARY KEY, note text);
CREATE TABLE wheel (id integer PRIMARY KEY, wheel_relation_id integer REFERENCES wheel_relation);
CREATE TABLE spoke (id integer PRIMARY KEY, wheel_id integer REFERENCES wheel);
INSERT INTO wheel_relation VALUES (1, 'a'); INSERT INTO wheel VALUES (1, 1); INSERT INTO spoke VALUES (1, 1), (2, 1);

-- Columns with reserved words as names are written, too.
CREATE TABLE reserved_name ("null" text PRIMARY KEY, "case" integer, "user" text, "do" boolean, "table" date);
INSERT INTO reserved_name VALUES ('a', 1, 'b', true, '2026-05-01');

-- The orders by a number of related rows have a type RelationOrder.
CREATE TABLE relation (id integer PRIMARY KEY, wheel_id integer REFERENCES wheel);
INSERT INTO relation VALUES (1, 1);
