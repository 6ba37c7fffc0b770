-- Photos of places.

CALL kind('photo_post', 18, phrase => 'photo');

CREATE OR REPLACE FUNCTION photo_post_refusals(viewer bigint, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN is_new THEN where_refusals(viewer, 'photo_post', input) ELSE '[]' END
    || picture_refusals(viewer, input, is_new, true) || null_refusals(input, 'location')
    || body_refusals(input, is_new, false);
END $$;
COMMENT ON FUNCTION photo_post_refusals IS 'Returns the errors of the input for a photo post.';

CREATE OR REPLACE FUNCTION create_photo_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(photo_post_refusals(viewer, input, true));
  RETURN new_post(viewer, 'photo_post', input);
END $$;
COMMENT ON FUNCTION create_photo_post IS 'Implements Mutation.createPhotoPost.';

CREATE OR REPLACE FUNCTION update_photo_post(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{photo_post}', 'photoPostId');
  PERFORM refuse_all(photo_post_refusals(viewer, input, false));
  PERFORM change_post(viewer, target, input);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_photo_post IS
  'Implements Mutation.updatePhotoPost, for its author. Omitted fields keep their value.';
