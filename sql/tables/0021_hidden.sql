-- What keeps hidden things out of what is told to everybody.

-- A thank-you in a group is thanks among its members: it is in nobody's score.
ALTER TABLE post_tag ADD COLUMN is_public boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN post_tag.is_public IS 'Whether everyone may see the post; kept by trigger.';

-- Deletions are told by their rows alone, as what is gone has no rule of visibility any more.
ALTER TABLE change ADD COLUMN people bigint[];
COMMENT ON COLUMN change.people IS
  'Who wrote the node and what it is on: nobody who is hidden from one of them is told.';

UPDATE post_tag t SET is_public = false
FROM post p WHERE p.id = t.post_id AND p.visibility <> 'PUBLIC';
UPDATE app_user u SET thank_you_score = (
  SELECT count(*) FROM post_tag t WHERE t.user_id = u.id AND t.post_id & 255 = 21 AND t.is_public)
WHERE EXISTS (SELECT FROM post_tag t WHERE t.user_id = u.id AND NOT t.is_public);
