-- Things shops sell.

-- A row: one product of one retailer.
CREATE TABLE product (
  id bigint PRIMARY KEY DEFAULT new_node(4) REFERENCES node ON DELETE CASCADE CHECK (id & 255 = 4),
  retailer text NOT NULL,
  external_id text NOT NULL,
  name text NOT NULL,
  brand text NOT NULL,
  description text NOT NULL DEFAULT '',
  price numeric(12, 2) CHECK (price >= 0),
  currency char(3),
  photo_id bigint REFERENCES photo ON DELETE SET NULL,
  buy_url text NOT NULL CHECK (buy_url ~* '^https?://[^/]'),
  heart_count int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  search tsvector
    GENERATED ALWAYS AS (to_tsvector('simple', name || ' ' || brand || ' ' || description)) STORED,
  UNIQUE (retailer, external_id),             -- upsertProduct; products(retailer:)
  CHECK ((price IS NULL) = (currency IS NULL)));
-- products(search:), search
CREATE INDEX ON product USING gin (search);
-- products(orderBy: POPULAR)
CREATE INDEX ON product (heart_count DESC, id DESC);
-- products(orderBy: NAME) and PRICE
CREATE INDEX ON product (name, id);
CREATE INDEX ON product (price, id);
-- visibility of the picture; its deletion
CREATE INDEX ON product (photo_id) WHERE photo_id IS NOT NULL;

-- A row: a product the user means to buy.
CREATE TABLE shopping_list_item (
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  product_id bigint REFERENCES product ON DELETE CASCADE,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, product_id));         -- Product.viewerHasOnShoppingList
-- viewer.shoppingList, newest first
CREATE INDEX ON shopping_list_item (user_id, added_at DESC, product_id DESC);
-- deleting a product
CREATE INDEX ON shopping_list_item (product_id);

-- A row: the sender thinks the recipient would like the product, perhaps because of a post.
CREATE TABLE product_suggestion (
  sender_id bigint REFERENCES app_user ON DELETE CASCADE,
  recipient_id bigint REFERENCES app_user ON DELETE CASCADE,
  product_id bigint REFERENCES product ON DELETE CASCADE,
  post_id bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (sender_id, recipient_id, product_id),   -- suggestProduct, once for each
  CHECK (sender_id <> recipient_id));
-- deleting an account, a product, a post
CREATE INDEX ON product_suggestion (recipient_id);
CREATE INDEX ON product_suggestion (product_id);
CREATE INDEX ON product_suggestion (post_id) WHERE post_id IS NOT NULL;

CREATE TRIGGER drop_nodes AFTER DELETE ON product REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
