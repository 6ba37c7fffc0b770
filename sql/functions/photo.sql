-- Pictures on their way from /photos to what shows them. The server calls note_upload with each that it has kept,
-- photo_audience before it gives one, and forget_uploads and unknown_uploads hourly. It makes smaller forms of a
-- picture when they are first read, with names that only their size follows from.

CALL node('photo', 2, owner => 'owner_id', flaggable => true);
CALL tell('upload', 'upload', 'owner_id', '{owner_id}');
CALL exported('photos', $$
  SELECT jsonb_build_object('id', wire_id(p.id),
    'url', CASE WHEN p.moderation <> 'REJECTED' THEN photo_url(p.url) END,
    'altText', p.alt_text, 'moderation', p.moderation, 'createdAt', wire_time(p.created_at))
  FROM photo p WHERE p.owner_id = $1
  ORDER BY p.id$$);

CREATE OR REPLACE FUNCTION shown_photo(viewer bigint) RETURNS SETOF photo LANGUAGE sql STABLE AS $$
  SELECT f.* FROM photo f
  WHERE f.moderation = 'APPROVED'
    OR f.owner_id = viewer AND f.moderation = 'PENDING'
    OR has_role(viewer, 'STAFF')
$$;
COMMENT ON FUNCTION shown_photo IS
  'Returns the photos that the viewer may see in a post, product, or profile that is known to be visible: approved '
  'photos, pending ones of the viewer, and all for staff.';

CREATE OR REPLACE FUNCTION visible_photo(viewer bigint) RETURNS SETOF photo
LANGUAGE sql STABLE AS $$
  SELECT f.* FROM photo f
  WHERE f.owner_id = viewer AND f.moderation <> 'REJECTED'
    OR f.moderation = 'APPROVED' AND (
      EXISTS (SELECT FROM app_user u WHERE u.id = f.owner_id AND u.avatar_id = f.id)
      OR EXISTS (
        SELECT FROM post_photo pp JOIN visible_post(viewer) p ON p.id = pp.post_id
        WHERE pp.photo_id = f.id)
      OR EXISTS (SELECT FROM product r WHERE r.photo_id = f.id))
    OR EXISTS (SELECT FROM staff(viewer))
$$;
COMMENT ON FUNCTION visible_photo IS
  'Returns the photos that the viewer may see: approved ones in a visible post, product, or profile, pending ones of '
  'the viewer, and all for staff.';

-- Photos.
CREATE OR REPLACE FUNCTION photo_refusals(viewer bigint, ids bigint[], is_needed boolean,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN list_refusals(ids, is_needed, 10, VARIADIC path) || (
    SELECT coalesce(jsonb_agg(refusal(bad.code, VARIADIC path || (bad.place - 1)::text)
      ORDER BY bad.place), '[]'::jsonb)
    FROM (
      SELECT e.place, CASE
        WHEN f.id IS NULL THEN 'NOT_FOUND'
        WHEN f.moderation = 'REJECTED' THEN 'REJECTED_PHOTO'
        WHEN e.id = ANY (ids[:e.place - 1]) THEN 'INVALID' END AS code
      FROM unnest(ids) WITH ORDINALITY AS e(id, place)
        LEFT JOIN photo f ON f.id = e.id AND f.owner_id = viewer) bad
    WHERE bad.code IS NOT NULL);
END $$;
COMMENT ON FUNCTION photo_refusals IS
  'Returns the errors of photos to attach: too few, more than ten, duplicates, unknown or owned by another user '
  '(NOT_FOUND), or rejected by moderation.';

CREATE OR REPLACE FUNCTION set_photos(post bigint, ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM post_photo p WHERE p.post_id = post;
  INSERT INTO post_photo (post_id, position, photo_id)
  SELECT post, e.place - 1, e.id FROM unnest(ids) WITH ORDINALITY AS e(id, place);
END $$;
COMMENT ON FUNCTION set_photos IS 'Replaces the photos of a post by these, in this order.';

CREATE OR REPLACE FUNCTION photo_url(path text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN path LIKE '/%'
    THEN coalesce(nullif(current_setting('sociograph.public_url', true), ''), '') || path
    ELSE path END
$$;
COMMENT ON FUNCTION photo_url IS
  'Returns the address of an image for clients. An image of this server has its public address, or a relative one if '
  'the operator has not set it.';

-- The server counts the same (PictureForm in Sources/Pictures).
CREATE OR REPLACE FUNCTION photo_form(url text, width int, height int)
RETURNS TABLE (shape text, path text, form_width int, form_height int) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'ORIGINAL', photo_form.url, photo_form.width, photo_form.height
  WHERE photo_form.width IS NOT NULL AND photo_form.height IS NOT NULL
  UNION ALL
  SELECT 'ORIGINAL', regexp_replace(photo_form.url, '\.', '-w' || w.n || '.'), w.n,
    greatest(1, ((2 * photo_form.height::bigint * w.n + photo_form.width) / (2 * photo_form.width))::int)
  FROM unnest('{160,320,640,1280}'::int[]) AS w(n)
  WHERE photo_form.url LIKE '/photos/%' AND w.n < photo_form.width AND photo_form.height IS NOT NULL
  UNION ALL
  SELECT 'SQUARE', CASE WHEN s.n = photo_form.width AND s.n = photo_form.height THEN photo_form.url
    ELSE regexp_replace(photo_form.url, '\.', '-s' || s.n || '.') END, s.n, s.n
  FROM (SELECT least(photo_form.width, photo_form.height)) AS side(n),
    LATERAL (SELECT DISTINCT least(n, side.n) FROM unnest('{160,320,640}'::int[]) AS u(n)) AS s(n)
  WHERE photo_form.url LIKE '/photos/%' AND photo_form.width IS NOT NULL AND photo_form.height IS NOT NULL
$$;
COMMENT ON FUNCTION photo_form IS
  'Returns the forms of an image: itself, and of one of this server the smaller ones and the squares.';

CREATE OR REPLACE FUNCTION form_url(url text, width int, height int, shape text, wanted int) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF shape = 'ORIGINAL' AND wanted IS NULL THEN RETURN url; END IF;
  RETURN coalesce((SELECT f.path FROM photo_form(form_url.url, form_url.width, form_url.height) f
    WHERE f.shape = form_url.shape
    ORDER BY CASE WHEN f.form_width >= wanted THEN f.form_width END NULLS LAST, f.form_width DESC LIMIT 1), url);
END $$;
COMMENT ON FUNCTION form_url IS
  'Returns the path of the smallest form of an image that is at least as wide, or of the largest. That of the image '
  'itself if it has no form of this shape.';

CREATE OR REPLACE FUNCTION whole_path(path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN regexp_replace(path, '-[ws][0-9]+\.', '.');
COMMENT ON FUNCTION whole_path IS 'Returns the path of the image that an image is a form of, or its own.';

CREATE OR REPLACE FUNCTION note_upload(viewer bigint, sent jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF (SELECT count(*) >= 200 FROM (
      SELECT FROM upload u WHERE u.owner_id = viewer AND u.photo_id IS NULL LIMIT 200) waiting)
    AND NOT EXISTS (
      SELECT FROM upload u WHERE u.owner_id = viewer AND u.path = sent ->> 'path') THEN
    PERFORM fail('RATE_LIMITED', 'Too many of your photos were not used. Try again tomorrow.');
  END IF;
  IF sent ->> 'moderation' = 'REJECTED' THEN
    INSERT INTO rejected_picture (path) VALUES (sent ->> 'path') ON CONFLICT (path) DO NOTHING;
  END IF;
  -- What was rejected stays so, however often it is sent and by whom.
  INSERT INTO upload AS u (owner_id, path, width, height, moderation)
  VALUES (viewer, sent ->> 'path', (sent ->> 'width')::int, (sent ->> 'height')::int,
    CASE WHEN EXISTS (SELECT FROM rejected_picture r WHERE r.path = sent ->> 'path') THEN 'REJECTED'
      ELSE (sent ->> 'moderation')::moderation_state END)
  ON CONFLICT (owner_id, path) DO UPDATE SET uploaded_at = now();
  RETURN photo_url(sent ->> 'path');
END $$;
COMMENT ON FUNCTION note_upload IS
  'Records that the viewer uploaded an image: its path, its size, and its moderation. Returns the address for the '
  'client. A repeated upload has no effect.';

CREATE OR REPLACE FUNCTION photo_of(sent upload, alt_text text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE made bigint;
BEGIN
  IF sent.photo_id IS NOT NULL THEN RETURN sent.photo_id; END IF;
  INSERT INTO photo (owner_id, url, width, height, alt_text, moderation)
  VALUES (sent.owner_id, sent.path, sent.width, sent.height, words(photo_of.alt_text), sent.moderation)
  RETURNING id INTO made;
  UPDATE upload u SET photo_id = made WHERE u.owner_id = sent.owner_id AND u.path = sent.path;
  RETURN made;
END $$;
COMMENT ON FUNCTION photo_of IS 'Returns the photo of an upload, which it becomes if it is none yet.';

CREATE OR REPLACE FUNCTION photo_of_sent(viewer bigint, sent jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE chosen upload;
BEGIN
  PERFORM note_upload(viewer, sent);
  SELECT * INTO chosen FROM upload u WHERE u.owner_id = viewer AND u.path = sent ->> 'path' FOR NO KEY UPDATE;
  RETURN photo_of(chosen, NULL);
END $$;
COMMENT ON FUNCTION photo_of_sent IS 'Records an image that a user sent, and returns its photo.';

CREATE OR REPLACE FUNCTION take_upload(viewer bigint, sent jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN wire_id(photo_of_sent(viewer, sent));
END $$;
COMMENT ON FUNCTION take_upload IS
  'Records an image that the viewer sent with a mutation, and returns the ID of its photo, which stands for it there. '
  'A photo that was rejected is refused by the mutation.';

CREATE OR REPLACE FUNCTION create_photo(viewer bigint, input jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE sent upload;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT * INTO sent FROM upload u
  WHERE u.owner_id = viewer AND u.path = substring(input ->> 'url' FROM '/photos/[0-9a-f]{64}\.[a-z]{3,4}$')
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'input', 'url'); END IF;
  PERFORM refuse_all(text_refusals(input ->> 'altText', false, 500, 'input', 'altText'));
  IF sent.moderation = 'REJECTED'
    OR EXISTS (SELECT FROM photo f WHERE f.id = sent.photo_id AND f.moderation = 'REJECTED') THEN
    PERFORM refuse('REJECTED_PHOTO', 'input', 'url');
  END IF;
  RETURN photo_of(sent, input ->> 'altText');
END $$;
COMMENT ON FUNCTION create_photo IS
  'Implements Mutation.createPhoto, for an image that the viewer uploaded to /photos. An image that is already '
  'registered returns the same photo.';

CREATE OR REPLACE FUNCTION photo_audience(viewer bigint, path text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  is_there boolean;
  is_approved boolean;
  is_rejected boolean;
  is_own boolean;
BEGIN
  -- Several people may have sent the same bytes. Whoever is approved shows them to everybody; a rejection is of the
  -- bytes, and so of everybody's.
  SELECT count(*) > 0, bool_or(coalesce(f.moderation, u.moderation) = 'APPROVED'),
    bool_or(coalesce(f.moderation, u.moderation) = 'REJECTED'
      OR EXISTS (SELECT FROM rejected_picture r WHERE r.path = u.path)),
    bool_or(u.owner_id = viewer)
  INTO is_there, is_approved, is_rejected, is_own
  FROM upload u LEFT JOIN photo f ON f.id = u.photo_id
  WHERE u.path = whole_path(photo_audience.path);
  RETURN CASE WHEN NOT is_there THEN NULL
    WHEN is_approved AND NOT is_rejected THEN 'EVERYBODY'
    WHEN is_own AND NOT is_rejected OR has_role(viewer, 'STAFF') THEN 'VIEWER' END;
END $$;
COMMENT ON FUNCTION photo_audience IS
  'Returns which clients may fetch the image at this path: EVERYBODY with its address, or only the VIEWER, for staff '
  'and the owner of a pending image. Null if the viewer may not.';

CREATE OR REPLACE FUNCTION note_rejection() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.moderation = 'REJECTED' THEN
    INSERT INTO rejected_picture (path) SELECT u.path FROM upload u WHERE u.photo_id = NEW.id
    ON CONFLICT (path) DO NOTHING;
  ELSE
    DELETE FROM rejected_picture r USING upload u WHERE u.photo_id = NEW.id AND r.path = u.path;
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION note_rejection IS 'Records that the image of a photo is rejected, or no longer is.';
CREATE OR REPLACE TRIGGER note_rejection AFTER UPDATE OF moderation ON photo
  FOR EACH ROW WHEN (OLD.moderation <> NEW.moderation AND 'REJECTED' IN (OLD.moderation, NEW.moderation))
  EXECUTE FUNCTION note_rejection();

CREATE OR REPLACE FUNCTION forget_uploads() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH gone AS (
    DELETE FROM upload u WHERE u.photo_id IS NULL AND u.uploaded_at < now() - interval '24 hours'
    RETURNING 1)
  SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION forget_uploads IS
  'Deletes uploads that were not registered as photos within a day, and returns their number.';

CREATE OR REPLACE FUNCTION unknown_uploads(paths text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT p.path FROM unnest(paths) AS p(path)
  WHERE NOT EXISTS (SELECT FROM upload u WHERE u.path = whole_path(p.path))
$$;
COMMENT ON FUNCTION unknown_uploads IS
  'Returns those of these images that no upload refers to, so that the server may delete them.';

CREATE OR REPLACE FUNCTION moderate_photo(viewer bigint, target bigint, state text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE same bigint[];
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  -- The decision is about the bytes: it goes for all who sent them.
  same := target || ARRAY(SELECT o.photo_id FROM upload u JOIN upload o ON o.path = u.path
    WHERE u.photo_id = target AND o.photo_id <> target);
  PERFORM FROM photo f WHERE f.id = ANY (same) ORDER BY f.id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM photo f WHERE f.id = target) THEN PERFORM refuse('NOT_FOUND', 'photoId'); END IF;
  UPDATE photo f SET moderation = state::moderation_state WHERE f.id = ANY (same);
  UPDATE upload o SET moderation = state::moderation_state FROM upload u
  WHERE u.photo_id = target AND o.path = u.path AND o.photo_id IS NULL;
  PERFORM audit(viewer, 'MODERATE_PHOTO', target, state);
  RETURN target;
END $$;
COMMENT ON FUNCTION moderate_photo IS 'Implements Mutation.moderatePhoto, for every upload of the same image.';

CREATE OR REPLACE FUNCTION seen_photo(viewer bigint, target bigint) RETURNS photo LANGUAGE plpgsql AS $$
DECLARE chosen photo;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT f.* INTO chosen FROM visible_photo(viewer) f WHERE f.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'photoId'); END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION seen_photo IS 'Returns a photo that the viewer may see. Refuses any other.';

CREATE OR REPLACE FUNCTION update_photo(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE chosen photo := seen_photo(viewer, target);
BEGIN
  IF chosen.owner_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'photoId'); END IF;
  PERFORM refuse_all(text_refusals(input ->> 'altText', false, 500, 'input', 'altText'));
  IF input ? 'altText' THEN
    UPDATE photo f SET alt_text = words(input ->> 'altText')
    WHERE f.id = target AND f.alt_text IS DISTINCT FROM words(input ->> 'altText');
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION update_photo IS 'Implements Mutation.updatePhoto.';

CREATE OR REPLACE FUNCTION photo_uses(photo bigint) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT p.post_id FROM post_photo p WHERE p.photo_id = photo
  UNION SELECT r.id FROM product r WHERE r.photo_id = photo
  UNION SELECT u.id FROM app_user u WHERE u.avatar_id = photo
$$;
COMMENT ON FUNCTION photo_uses IS 'Returns the posts, products, and users that show a photo.';

CREATE OR REPLACE FUNCTION delete_photo(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  chosen photo := seen_photo(viewer, target);
  uses bigint[];
BEGIN
  IF chosen.owner_id <> viewer AND NOT has_role(viewer, 'STAFF') THEN
    PERFORM refuse('FORBIDDEN', 'photoId');
  END IF;
  -- What shows it before the photo itself, as who attaches it does; and again what was added before it was held.
  LOOP
    uses := ARRAY(SELECT u.id FROM photo_uses(target) u ORDER BY u.id);
    PERFORM FROM post p WHERE p.id = ANY (uses) ORDER BY p.id FOR NO KEY UPDATE;
    PERFORM FROM product r WHERE r.id = ANY (uses) ORDER BY r.id FOR NO KEY UPDATE;
    PERFORM FROM app_user u WHERE u.id = ANY (uses) ORDER BY u.id FOR NO KEY UPDATE;
    PERFORM FROM photo f WHERE f.id = target FOR UPDATE;
    EXIT WHEN NOT EXISTS (SELECT FROM photo_uses(target) u WHERE u.id <> ALL (uses));
  END LOOP;
  IF EXISTS (SELECT FROM unnest(uses) AS u(id)
      WHERE (is_outfit_post(u.id) OR is_photo_post(u.id))
        AND EXISTS (SELECT FROM post_photo p WHERE p.post_id = u.id AND p.photo_id = target)
        AND NOT EXISTS (SELECT FROM post_photo p WHERE p.post_id = u.id AND p.photo_id <> target)) THEN
    PERFORM refuse_as(worded(refusal('IN_USE', 'photoId'), 'PHOTO_NEEDED'));
  END IF;
  DELETE FROM photo f WHERE f.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'photoId'); END IF;
  UPDATE post p SET updated_at = now() WHERE p.id = ANY (uses);
  IF chosen.owner_id <> viewer THEN PERFORM audit(viewer, 'DELETE_PHOTO', target); END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION delete_photo IS
  'Implements Mutation.deletePhoto, for its owner and staff. The server deletes the image when no upload refers to it.';
