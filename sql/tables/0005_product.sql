-- Things shops sell.

CREATE TABLE product (
  id bigint CONSTRAINT product_id_primary PRIMARY KEY,
  retailer text NOT NULL,
  external_id text NOT NULL,
  name text NOT NULL,
  brand text NOT NULL,
  description text NOT NULL DEFAULT '',
  price numeric(12, 2) CONSTRAINT product_price_range CHECK (price >= 0),
  currency char(3),
  photo_id bigint CONSTRAINT product_photo_exists REFERENCES photo ON DELETE SET NULL,
  buy_url text NOT NULL CONSTRAINT product_buy_url_form CHECK (buy_url ~* '^https?://[^/]'),
  is_available boolean NOT NULL DEFAULT true,
  heart_count int NOT NULL DEFAULT 0,
  is_hot boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  search tsvector
    GENERATED ALWAYS AS (to_tsvector('simple', name || ' ' || brand || ' ' || description)) STORED,
  -- upsertProduct; products(retailer:)
  CONSTRAINT product_external_id_once UNIQUE (retailer, external_id),
  CONSTRAINT product_currency_given CHECK ((price IS NULL) = (currency IS NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE product IS 'One product of one retailer.';
COMMENT ON COLUMN product.retailer IS 'The name of the retailer, as staff wrote it.';
COMMENT ON COLUMN product.external_id IS 'The ID of the product at the retailer.';
COMMENT ON COLUMN product.currency IS 'The ISO 4217 code of the price''s currency.';
COMMENT ON COLUMN product.is_available IS 'Whether the retailer still sells it. Otherwise it is in no list.';
COMMENT ON COLUMN product.heart_count IS 'The number of HEART reactions to the product, kept by trigger.';
COMMENT ON COLUMN product.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON COLUMN product.search IS 'The words that searches find the product by.';
COMMENT ON CONSTRAINT product_price_range ON product IS 'price: INVALID';
COMMENT ON CONSTRAINT product_buy_url_form ON product IS 'buyUrl: INVALID';
COMMENT ON CONSTRAINT product_external_id_once ON product IS 'unreachable';
COMMENT ON CONSTRAINT product_currency_given ON product IS 'price: INVALID';
-- products(search:), search
CREATE INDEX ON product USING gin (search);
-- products(orderBy: NAME), PRICE_ASC and PRICE_DESC
CREATE INDEX ON product (name, id);
CREATE INDEX ON product (coalesce(price, 10000000000), id);
CREATE INDEX ON product (coalesce(price, -1), id);
-- visibility of the picture; its deletion
CREATE INDEX ON product (photo_id) WHERE photo_id IS NOT NULL;

CREATE TABLE product_rank (
  product_id bigint CONSTRAINT product_rank_id_primary PRIMARY KEY,
  heart_count int NOT NULL);
COMMENT ON TABLE product_rank IS 'The sort keys of one product, as of the last pass of fold_counts.';
COMMENT ON COLUMN product_rank.product_id IS 'The product. A trigger adds and deletes the row with it.';
COMMENT ON COLUMN product_rank.heart_count IS 'The number of hearts of the product at the last pass.';
-- products(orderBy: POPULAR)
CREATE INDEX ON product_rank (heart_count DESC, product_id DESC);

CREATE TABLE shopping_list_item (
  user_id bigint
    CONSTRAINT shopping_list_item_user_exists REFERENCES app_user ON DELETE CASCADE,
  product_id bigint
    CONSTRAINT shopping_list_item_product_exists REFERENCES product ON DELETE CASCADE,
  added_at timestamptz NOT NULL DEFAULT now(),
  -- Product.viewerHasOnShoppingList
  CONSTRAINT shopping_list_item_product_once PRIMARY KEY (user_id, product_id));
COMMENT ON TABLE shopping_list_item IS 'One product on the shopping list of a user.';
-- viewer.shoppingList, newest first
CREATE INDEX ON shopping_list_item (user_id, added_at DESC, product_id DESC);
-- deleting a product
CREATE INDEX ON shopping_list_item (product_id);

CREATE TABLE product_suggestion (
  sender_id bigint
    CONSTRAINT product_suggestion_sender_exists REFERENCES app_user ON DELETE CASCADE,
  recipient_id bigint
    CONSTRAINT product_suggestion_recipient_exists REFERENCES app_user ON DELETE CASCADE,
  product_id bigint
    CONSTRAINT product_suggestion_product_exists REFERENCES product ON DELETE CASCADE,
  post_id bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- suggestProduct, once for each
  CONSTRAINT product_suggestion_product_once PRIMARY KEY (sender_id, recipient_id, product_id),
  CONSTRAINT product_suggestion_recipient_other CHECK (sender_id <> recipient_id));
COMMENT ON TABLE product_suggestion IS
  'One product that the sender suggests to the recipient, perhaps because of a post.';
COMMENT ON CONSTRAINT product_suggestion_recipient_other ON product_suggestion IS 'toUserId: INVALID';
-- deleting an account, a product, a post
CREATE INDEX ON product_suggestion (recipient_id);
CREATE INDEX ON product_suggestion (product_id);
CREATE INDEX ON product_suggestion (post_id) WHERE post_id IS NOT NULL;
