-- Words.

CALL kind('text_post', 24, phrase => 'post');

CREATE OR REPLACE FUNCTION create_text_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN new_post(viewer, 'text_post', input, true, false);
END $$;
COMMENT ON FUNCTION create_text_post IS 'Implements Mutation.createTextPost.';
