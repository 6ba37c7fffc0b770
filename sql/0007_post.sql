-- Posts: one table for what all kinds share, one more for each kind that has more to say.

CREATE TYPE visibility AS ENUM ('PUBLIC', 'CIRCLE', 'INVITED');

-- A row: one post, of the kind its id names.
CREATE TABLE post (
  id bigint PRIMARY KEY REFERENCES node ON DELETE CASCADE CHECK (id & 240 = 16),
  kind smallint NOT NULL GENERATED ALWAYS AS ((id & 255)::smallint) STORED,
  author_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  body text NOT NULL DEFAULT '' CHECK (length(body) <= 5000),
  location_id bigint REFERENCES location ON DELETE SET NULL,
  circle_id bigint REFERENCES circle ON DELETE CASCADE,
  visibility visibility NOT NULL DEFAULT 'PUBLIC',
  heart_count int NOT NULL DEFAULT 0,
  like_count int NOT NULL DEFAULT 0,
  top_count int NOT NULL DEFAULT 0,
  comment_count int NOT NULL DEFAULT 0,
  score int NOT NULL GENERATED ALWAYS AS (heart_count + like_count + top_count) STORED,
  search tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (visibility <> 'INVITED' OR id & 255 = 23),   -- only events are by invitation
  CHECK (visibility <> 'CIRCLE' OR circle_id IS NOT NULL),
  CHECK (id & 255 <> 22 OR visibility = 'PUBLIC'),    -- announcements are public
  CHECK (id & 255 <> 18 OR location_id IS NOT NULL)); -- photo posts show a place
-- User.posts, feed, agenda, places friends visited. What the rule of visibility and the choice of
-- kinds need is in the index, so a feed merges the posts of many authors without their rows.
CREATE INDEX ON post (author_id, created_at DESC, id DESC)
  INCLUDE (kind, visibility, circle_id, location_id);
-- Location.posts(orderBy: TOP)
CREATE INDEX ON post (location_id, score DESC, id DESC) WHERE location_id IS NOT NULL;
-- Location.visitors; locations(filter: {visitedBy})
CREATE INDEX ON post (location_id, author_id) INCLUDE (id, visibility, circle_id)
  WHERE location_id IS NOT NULL;
-- Circle.posts, feed(source: CIRCLES)
CREATE INDEX ON post (circle_id, created_at DESC, id DESC) INCLUDE (kind, visibility, author_id)
  WHERE circle_id IS NOT NULL;
-- posts(filter: {kinds})
CREATE INDEX ON post (kind, created_at DESC, id DESC) WHERE visibility = 'PUBLIC';
-- posts
CREATE INDEX ON post (created_at DESC, id DESC) WHERE visibility = 'PUBLIC';
-- explore
CREATE INDEX ON post (created_at DESC, id DESC)
  WHERE visibility = 'PUBLIC' AND kind IN (22, 23);
-- posts(orderBy: TOP)
CREATE INDEX ON post (score DESC, id DESC) WHERE visibility = 'PUBLIC';
-- posts(filter: {search}), search
CREATE INDEX ON post USING gin (search);

ALTER TABLE product_suggestion ADD FOREIGN KEY (post_id) REFERENCES post ON DELETE SET NULL;

-- A row: a photo of a post, in the place the author gave it.
CREATE TABLE post_photo (
  post_id bigint REFERENCES post ON DELETE CASCADE,
  position smallint CHECK (position BETWEEN 0 AND 9),
  photo_id bigint NOT NULL REFERENCES photo ON DELETE CASCADE,
  PRIMARY KEY (post_id, position));           -- Post.photos
-- visibility of a photo
CREATE INDEX ON post_photo (photo_id);

-- A row: a post names a user, as a thank-you does.
CREATE TABLE post_tag (
  post_id bigint REFERENCES post ON DELETE CASCADE,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  PRIMARY KEY (post_id, user_id));            -- ThankYou.taggedUsers
-- User.taggedIn
CREATE INDEX ON post_tag (user_id, post_id DESC);

-- A row: what an outfit or product post has besides; people can vote on it.
CREATE TABLE votable_post (
  post_id bigint PRIMARY KEY REFERENCES post ON DELETE CASCADE CHECK (post_id & 255 IN (16, 17)),
  brands text[] NOT NULL DEFAULT '{}',
  product_id bigint REFERENCES product ON DELETE RESTRICT,
  voting_enabled boolean NOT NULL,
  wear_it_count int NOT NULL DEFAULT 0,
  change_it_count int NOT NULL DEFAULT 0,
  CHECK ((post_id & 255 = 17) = (product_id IS NOT NULL)));
-- Product.posts
CREATE INDEX ON votable_post (product_id, post_id DESC) WHERE product_id IS NOT NULL;

CREATE TRIGGER drop_nodes AFTER DELETE ON post REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
