-- Photos of places.

CALL kind('photo_post', 18, phrase => 'photo');

CREATE OR REPLACE FUNCTION create_photo_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN new_post(viewer, 'photo_post', input, false, true);
END $$;
COMMENT ON FUNCTION create_photo_post IS 'Implements Mutation.createPhotoPost.';
