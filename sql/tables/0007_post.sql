-- Posts: one table for what all kinds share, one more for each kind that has more to say.

CREATE TYPE visibility AS ENUM ('PUBLIC', 'CIRCLE', 'INVITED');
COMMENT ON TYPE visibility IS
  'The visibilities of a post: to everyone, to the members of its circle, or to the users invited by its author.';

CREATE TABLE post (
  id bigint CONSTRAINT post_id_primary PRIMARY KEY,
  kind smallint NOT NULL GENERATED ALWAYS AS ((id & 255)::smallint) STORED,
  author_id bigint NOT NULL CONSTRAINT post_author_exists REFERENCES app_user ON DELETE CASCADE,
  body text NOT NULL DEFAULT '' CONSTRAINT post_body_length CHECK (length(body) <= 5000),
  location_id bigint CONSTRAINT post_location_exists REFERENCES location ON DELETE SET NULL,
  circle_id bigint CONSTRAINT post_circle_exists REFERENCES circle ON DELETE CASCADE,
  visibility visibility NOT NULL DEFAULT 'PUBLIC',
  heart_count int NOT NULL DEFAULT 0,
  like_count int NOT NULL DEFAULT 0,
  top_count int NOT NULL DEFAULT 0,
  comment_count int NOT NULL DEFAULT 0,
  score int NOT NULL GENERATED ALWAYS AS (heart_count + like_count + top_count) STORED,
  is_hot boolean NOT NULL DEFAULT false,
  search tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- only events are by invitation
  CONSTRAINT post_visibility_invited CHECK (visibility <> 'INVITED' OR id & 255 = 23),
  CONSTRAINT post_circle_given CHECK (visibility <> 'CIRCLE' OR circle_id IS NOT NULL),
  CONSTRAINT post_announcement_public CHECK (id & 255 <> 22 OR visibility = 'PUBLIC'),
  CONSTRAINT post_location_given CHECK (id & 255 <> 18 OR location_id IS NOT NULL)
) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE post IS 'One post, of the kind in its ID.';
COMMENT ON COLUMN post.kind IS 'The tag of the post''s type, 16 to 31.';
COMMENT ON COLUMN post.circle_id IS 'The circle in which the post was posted. Never changes.';
COMMENT ON COLUMN post.heart_count IS 'The number of HEART reactions, kept by trigger.';
COMMENT ON COLUMN post.like_count IS 'The number of LIKE reactions, kept by trigger.';
COMMENT ON COLUMN post.top_count IS 'The number of TOP reactions, kept by trigger.';
COMMENT ON COLUMN post.comment_count IS 'The number of comments, kept by trigger.';
COMMENT ON COLUMN post.score IS 'The number of all reactions, the sort key of TOP by way of post_rank.';
COMMENT ON COLUMN post.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON COLUMN post.search IS 'The words that searches find the post by.';
COMMENT ON COLUMN post.updated_at IS 'The date and time of the author''s last edit of the post or its dependent rows.';
COMMENT ON CONSTRAINT post_body_length ON post IS 'body: TOO_LONG';
COMMENT ON CONSTRAINT post_visibility_invited ON post IS 'visibility: INVALID';
COMMENT ON CONSTRAINT post_circle_given ON post IS 'visibility: INVALID';
COMMENT ON CONSTRAINT post_announcement_public ON post IS 'visibility: INVALID';
COMMENT ON CONSTRAINT post_location_given ON post IS 'location: REQUIRED';
-- User.posts, feed, agenda, places friends visited. What the rule of visibility and the choice of
-- kinds need is in the index, so a feed merges the posts of many authors without their rows.
CREATE INDEX ON post (author_id, created_at DESC, id DESC)
  INCLUDE (kind, visibility, circle_id, location_id);
-- Location.posts(orderBy: NEWEST)
CREATE INDEX ON post (location_id, created_at DESC, id DESC) WHERE location_id IS NOT NULL;
-- Location.posts(orderBy: NEWEST, kinds:)
CREATE INDEX ON post (location_id, kind, created_at DESC, id DESC) WHERE location_id IS NOT NULL;
-- locations(filter: {visitedBy}); whether one has been there; what makes a visit
CREATE INDEX ON post (location_id, author_id) INCLUDE (id, visibility, circle_id, created_at)
  WHERE location_id IS NOT NULL;
-- Location.visitors: those whose posts there not everyone sees
CREATE INDEX ON post (location_id, author_id) INCLUDE (id, visibility, circle_id, created_at)
  WHERE location_id IS NOT NULL AND visibility <> 'PUBLIC';
-- Circle.posts, feed(source: CIRCLES)
CREATE INDEX ON post (circle_id, created_at DESC, id DESC) INCLUDE (kind, visibility, author_id)
  WHERE circle_id IS NOT NULL;
-- posts(filter: {kinds})
CREATE INDEX ON post (kind, created_at DESC, id DESC) WHERE visibility = 'PUBLIC';
-- posts
CREATE INDEX ON post (created_at DESC, id DESC) WHERE visibility = 'PUBLIC';
-- explore; what its conditions need is in the index, so that counting reads no rows
CREATE INDEX ON post (created_at DESC, id DESC) INCLUDE (kind, visibility, author_id, circle_id)
  WHERE visibility = 'PUBLIC' AND kind IN (22, 23);
-- posts(filter: {search}), search
CREATE INDEX ON post USING gin (search);

CREATE TABLE post_rank (
  post_id bigint CONSTRAINT post_rank_id_primary PRIMARY KEY,
  score int NOT NULL,
  kind smallint NOT NULL,
  author_id bigint NOT NULL,
  location_id bigint,
  visibility visibility NOT NULL
) WITH (autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.002);
COMMENT ON TABLE post_rank IS
  'The sort keys of one post, as of the last pass of fold_counts, with copies of what lists filter by.';
COMMENT ON COLUMN post_rank.post_id IS 'The post. A trigger adds and deletes the row with it.';
COMMENT ON COLUMN post_rank.score IS 'The score of the post at the last pass.';
COMMENT ON COLUMN post_rank.kind IS 'A copy of the post''s kind, so that posts of other kinds need not be read.';
COMMENT ON COLUMN post_rank.author_id IS 'A copy of the post''s author.';
COMMENT ON COLUMN post_rank.location_id IS 'A copy of the post''s location, kept by trigger.';
COMMENT ON COLUMN post_rank.visibility IS 'A copy of the post''s visibility, kept by trigger.';
-- Location.posts(orderBy: TOP)
CREATE INDEX ON post_rank (location_id, score DESC, post_id DESC) INCLUDE (kind, author_id)
  WHERE location_id IS NOT NULL;
-- User.posts(orderBy: TOP)
CREATE INDEX ON post_rank (author_id, score DESC, post_id DESC) INCLUDE (kind, location_id);
-- posts(orderBy: TOP); what filters ask is in the index, so that they are told without the posts
CREATE INDEX ON post_rank (score DESC, post_id DESC) INCLUDE (kind, author_id, location_id)
  WHERE visibility = 'PUBLIC';

CREATE TABLE visit (
  location_id bigint CONSTRAINT visit_location_exists REFERENCES location ON DELETE CASCADE,
  user_id bigint CONSTRAINT visit_user_exists REFERENCES app_user ON DELETE CASCADE,
  visited_at timestamptz NOT NULL,
  CONSTRAINT visit_user_once PRIMARY KEY (location_id, user_id));
COMMENT ON TABLE visit IS 'One user with public posts at one location, kept by trigger (functions/location.sql).';
COMMENT ON COLUMN visit.visited_at IS 'The date and time of the latest of these posts.';
-- Location.visitors
CREATE INDEX ON visit (location_id, visited_at DESC, user_id DESC);
-- deleting an account
CREATE INDEX ON visit (user_id);

ALTER TABLE product_suggestion ADD CONSTRAINT product_suggestion_post_exists
  FOREIGN KEY (post_id) REFERENCES post ON DELETE SET NULL;

CREATE TABLE post_photo (
  post_id bigint CONSTRAINT post_photo_post_exists REFERENCES post ON DELETE CASCADE,
  position smallint CONSTRAINT post_photo_position_range CHECK (position BETWEEN 0 AND 9),
  photo_id bigint NOT NULL CONSTRAINT post_photo_photo_exists REFERENCES photo ON DELETE CASCADE,
  CONSTRAINT post_photo_position_once PRIMARY KEY (post_id, position));   -- Post.photos
COMMENT ON TABLE post_photo IS 'One photo of a post, at the position that the author gave it.';
COMMENT ON COLUMN post_photo.position IS 'The position in the post, from 0.';
COMMENT ON CONSTRAINT post_photo_position_range ON post_photo IS 'photoIds: INVALID';
-- visibility of a photo
CREATE INDEX ON post_photo (photo_id);

CREATE TABLE post_tag (
  post_id bigint CONSTRAINT post_tag_post_exists REFERENCES post ON DELETE CASCADE,
  user_id bigint CONSTRAINT post_tag_user_exists REFERENCES app_user ON DELETE CASCADE,
  is_public boolean NOT NULL DEFAULT true,
  CONSTRAINT post_tag_user_once PRIMARY KEY (post_id, user_id));   -- ThankYou.taggedUsers
COMMENT ON TABLE post_tag IS 'One user whom a post tags, such as a thank-you.';
-- A thank-you in a group is thanks among its members: it is in nobody's score.
COMMENT ON COLUMN post_tag.is_public IS 'Whether everyone may see the post, kept by trigger.';
-- User.taggedIn
CREATE INDEX ON post_tag (user_id, post_id DESC);

CREATE TABLE votable_post (
  post_id bigint CONSTRAINT votable_post_id_primary PRIMARY KEY
    CONSTRAINT votable_post_post_exists REFERENCES post ON DELETE CASCADE,
  brands text[] NOT NULL DEFAULT '{}',
  product_id bigint CONSTRAINT votable_post_product_exists REFERENCES product ON DELETE RESTRICT,
  voting_enabled boolean NOT NULL,
  wear_it_count int NOT NULL DEFAULT 0,
  change_it_count int NOT NULL DEFAULT 0,
  is_hot boolean NOT NULL DEFAULT false,
  CONSTRAINT votable_post_product_given CHECK ((post_id & 255 = 17) = (product_id IS NOT NULL))
) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE votable_post IS 'The further columns of one outfit or product post, which users can vote on.';
COMMENT ON COLUMN votable_post.brands IS 'The brands worn, as the author wrote them.';
COMMENT ON COLUMN votable_post.wear_it_count IS 'The number of WEAR_IT votes, kept by trigger.';
COMMENT ON COLUMN votable_post.change_it_count IS 'The number of CHANGE_IT votes, kept by trigger.';
COMMENT ON COLUMN votable_post.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON CONSTRAINT votable_post_product_given ON votable_post IS 'unreachable';
-- Product.posts
CREATE INDEX ON votable_post (product_id, post_id DESC) WHERE product_id IS NOT NULL;
