-- Products: what staff and services keep, and what people do with them.

CALL node('product', 4, path => '/products/', flaggable => true, reactions => '{HEART}',
  changes => '{name,brand,description,price,currency,photo_id,buy_url,is_available}',
  leaving => 'SELECT r.subject_id FROM reaction r WHERE r.user_id = $1
    UNION SELECT p.id FROM product p JOIN photo f ON f.id = p.photo_id
    WHERE f.owner_id = $1', lock_place => 50, is_going => false);
CALL sought('PRODUCT', 't.search', joined => 'JOIN product p ON p.id = %s', besides => 'AND p.is_available');
CALL told('product_rank', 'node', nouns => '{product}');
CALL told('product_rank', 'product_rank');
CALL tell('shopping_list_item', 'shopping_list_item', 'product_id', '{user_id}');
CALL tell('product_suggestion', 'product_suggestion', 'product_id', '{recipient_id}');
CALL kind('product_post', 17, phrase => 'product');
CALL takes('votable_post', 'post_id', '{outfit_post,product_post}');
CREATE OR REPLACE FUNCTION is_votable(id bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN is_outfit_post(id) OR is_product_post(id);
COMMENT ON FUNCTION is_votable IS 'Returns whether an ID is that of a post that users can vote on.';
CALL exported('shoppingList', $$
  SELECT jsonb_build_object('product', wire_id(s.product_id),
    'addedAt', wire_time(s.added_at))
  FROM shopping_list_item s WHERE s.user_id = $1
  ORDER BY s.added_at$$);
CALL exported('productSuggestions', $$
  SELECT jsonb_build_object(
    'product', wire_id(s.product_id), 'sender', wire_id(s.sender_id),
    'recipient', wire_id(s.recipient_id),
    'post', CASE WHEN sees($1, s.post_id) THEN wire_id(s.post_id) END,
    'createdAt', wire_time(s.created_at))
  FROM product_suggestion s WHERE $1 IN (s.sender_id, s.recipient_id)
    AND s.sender_id NOT IN (SELECT h.id FROM hidden_user($1) h)
    AND s.recipient_id NOT IN (SELECT h.id FROM hidden_user($1) h)
  ORDER BY s.created_at$$);

CREATE OR REPLACE FUNCTION product_post_refusals(viewer bigint, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN is_new THEN where_refusals(viewer, 'product_post', input)
      || CASE WHEN EXISTS (SELECT FROM product p WHERE p.id = (input ->> 'productId')::bigint) THEN '[]'
        ELSE jsonb_build_array(refusal('NOT_FOUND', 'input', 'productId')) END ELSE '[]' END
    || body_refusals(input, is_new, false) || vote_refusals(input, is_new);
END $$;
COMMENT ON FUNCTION product_post_refusals IS 'Returns the errors of the input for a product post.';

CREATE OR REPLACE FUNCTION create_product_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  thing bigint := (input ->> 'productId')::bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(product_post_refusals(viewer, input, true));
  PERFORM FROM product p WHERE p.id = thing FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'input', 'productId'); END IF;
  made := new_post(viewer, 'product_post', input);
  INSERT INTO votable_post (post_id, product_id, voting_enabled)
  VALUES (made, thing, asks_for_votes(input));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_product_post IS 'Implements Mutation.createProductPost.';

CREATE OR REPLACE FUNCTION update_product_post(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{product_post}', 'productPostId');
  PERFORM refuse_all(product_post_refusals(viewer, input, false));
  PERFORM change_post(viewer, target, input, change_voting(target, input));
  RETURN target;
END $$;
COMMENT ON FUNCTION update_product_post IS
  'Implements Mutation.updateProductPost, for its author. Omitted fields keep their value, null clears the text.';

CREATE OR REPLACE FUNCTION suggest_product(viewer bigint, target bigint, person bigint, post bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  thing product;
  fault text;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.* INTO thing FROM product p WHERE p.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'productId'); END IF;
  fault := person_fault(viewer, person);
  IF fault IS NOT NULL THEN PERFORM refuse(fault, 'toUserId'); END IF;
  IF post IS NOT NULL AND NOT EXISTS (
      SELECT FROM visible_post(viewer) p WHERE p.id = post) THEN
    PERFORM refuse('NOT_FOUND', 'postId');
  END IF;
  IF NOT EXISTS (SELECT FROM follow f WHERE f.follower_id = viewer AND f.followee_id = person)
    AND NOT EXISTS (SELECT FROM visible_post(viewer) p
      WHERE p.id = post AND p.author_id = person AND is_votable(p.id)) THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN', 'toUserId'), 'SUGGEST_FOLLOWED'));
  END IF;
  PERFORM FROM post p WHERE p.id = suggest_product.post FOR KEY SHARE;
  INSERT INTO product_suggestion (sender_id, recipient_id, product_id, post_id)
  VALUES (viewer, person, thing.id, post)
  ON CONFLICT (sender_id, recipient_id, product_id) DO NOTHING;
  IF FOUND THEN
    PERFORM notify_people(ARRAY[person], 'PRODUCT_SUGGESTED', viewer, thing.id,
      args := jsonb_build_object('product', thing.name, 'brand', thing.brand),
      action_kind := 'OPEN_URL', action_url := thing.buy_url);
  END IF;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION suggest_product IS
  'Implements Mutation.suggestProduct, to a user whom the viewer follows, or to the author of the post.';

CREATE OR REPLACE FUNCTION seen_product(viewer bigint, target bigint) RETURNS product
LANGUAGE plpgsql AS $$
DECLARE thing product;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.* INTO thing FROM product p WHERE p.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'productId'); END IF;
  RETURN thing;
END $$;
COMMENT ON FUNCTION seen_product IS 'Returns a product, locked against deletion. Refuses an unknown one.';

CREATE OR REPLACE FUNCTION email_product_to_me(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  thing product := seen_product(viewer, target);
BEGIN
  IF NOT mail_owner(viewer, 'PRODUCT', jsonb_build_object('product', thing.name, 'brand', thing.brand,
    'details', concat_ws(E'\n\n', CASE WHEN thing.price IS NOT NULL THEN thing.price || ' ' || thing.currency END,
      nullif(thing.description, ''), thing.buy_url))) THEN
    PERFORM refuse('EMAIL_REQUIRED', 'productId');
  END IF;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION email_product_to_me IS 'Implements Mutation.emailProductToMe, to a verified address.';

CREATE OR REPLACE FUNCTION add_to_shopping_list(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE thing product := seen_product(viewer, target);
BEGIN
  INSERT INTO shopping_list_item (user_id, product_id) VALUES (viewer, thing.id)
  ON CONFLICT (user_id, product_id) DO NOTHING;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION add_to_shopping_list IS 'Implements Mutation.addToShoppingList.';

CREATE OR REPLACE FUNCTION remove_from_shopping_list(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE thing product := seen_product(viewer, target);
BEGIN
  DELETE FROM shopping_list_item i WHERE i.user_id = viewer AND i.product_id = thing.id;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION remove_from_shopping_list IS 'Implements Mutation.removeFromShoppingList.';

CREATE OR REPLACE FUNCTION upsert_product(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  picture bigint := (input ->> 'photoId')::bigint;
  money jsonb := nullif(input -> 'price', 'null');
  refusals jsonb;
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  refusals := name_refusals(input ->> 'retailer', true, 100, 'input', 'retailer')
    || text_refusals(input ->> 'externalId', true, 200, 'input', 'externalId')
    || name_refusals(input ->> 'name', true, 200, 'input', 'name')
    || name_refusals(input ->> 'brand', true, 100, 'input', 'brand')
    || text_refusals(input ->> 'description', false, 5000, 'input', 'description');
  IF input ->> 'buyUrl' !~* '^https?://[^/\s]' OR NOT is_url(input ->> 'buyUrl') THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'buyUrl'), 'URL_FORM');
  END IF;
  IF money IS NOT NULL THEN
    IF NOT ((money ->> 'amount')::numeric >= 0 AND (money ->> 'amount')::numeric < 1e10) THEN
      refusals := refusals || limited(worded(refusal('INVALID', 'input', 'price', 'amount'), 'NOT_NEGATIVE'), 0, NULL);
    END IF;
    IF money ->> 'currency' !~ '^[A-Z]{3}$' THEN
      refusals := refusals || worded(refusal('INVALID', 'input', 'price', 'currency'), 'CURRENCY_FORM');
    END IF;
  END IF;
  IF picture IS NOT NULL THEN
    refusals := refusals || CASE
      WHEN NOT EXISTS (SELECT FROM photo f WHERE f.id = picture)
        THEN jsonb_build_array(refusal('NOT_FOUND', 'input', 'photoId'))
      WHEN EXISTS (SELECT FROM photo f WHERE f.id = picture AND f.moderation = 'REJECTED')
        THEN jsonb_build_array(refusal('REJECTED_PHOTO', 'input', 'photoId')) ELSE '[]' END;
  END IF;
  PERFORM refuse_all(refusals);
  INSERT INTO product AS p (retailer, external_id, name, brand, description, price, currency, photo_id,
    buy_url, is_available)
  VALUES (words(input ->> 'retailer'), words(input ->> 'externalId'), words(input ->> 'name'),
    words(input ->> 'brand'), coalesce(words(input ->> 'description'), ''),
    (money ->> 'amount')::numeric, money ->> 'currency', picture, input ->> 'buyUrl',
    coalesce((input ->> 'isAvailable')::boolean, true))
  ON CONFLICT (retailer, external_id) DO UPDATE SET name = EXCLUDED.name, brand = EXCLUDED.brand,
    description = EXCLUDED.description, price = EXCLUDED.price, currency = EXCLUDED.currency,
    photo_id = EXCLUDED.photo_id, buy_url = EXCLUDED.buy_url, is_available = EXCLUDED.is_available
  RETURNING p.id INTO made;
  RETURN made;
END $$;
COMMENT ON FUNCTION upsert_product IS
  'Implements Mutation.upsertProduct, for staff and services. Retailer and external ID identify the product.';
