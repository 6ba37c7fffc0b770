-- Words.

CREATE OR REPLACE FUNCTION create_text_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN new_post(viewer, 24, input, true, false);
END $$;
COMMENT ON FUNCTION create_text_post IS
  'Mutation.createTextPost.';
