-- Words.

CALL kind('text_post', 24, phrase => 'post');

CREATE OR REPLACE FUNCTION create_text_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(words_refusals(viewer, 'text_post', input, true));
  RETURN new_post(viewer, 'text_post', input);
END $$;
COMMENT ON FUNCTION create_text_post IS 'Implements Mutation.createTextPost.';

CREATE OR REPLACE FUNCTION update_text_post(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{text_post}', 'textPostId');
  PERFORM refuse_all(words_refusals(viewer, 'text_post', input, false));
  PERFORM change_post(viewer, target, input);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_text_post IS
  'Implements Mutation.updateTextPost, for its author. Omitted fields keep their value, null clears optional ones.';
