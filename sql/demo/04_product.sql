-- What shops sell.

-- step: Products; table: product(id, retailer, external_id, name, brand, description, price,
--   currency, photo_id, buy_url, heart_count, created_at); rows: 100 + 50 * :scale
SELECT demo_id('product', i), r.retailer, 'sku-' || i,
  demo_word(ARRAY['Linen', 'Wool', 'Denim', 'Canvas', 'Silk', 'Leather', 'Cotton', 'Striped'],
    demo_random(i, 302)) || ' ' || demo_word(ARRAY['Jacket', 'Dress', 'Scarf', 'Trousers', 'Boots',
    'Bag', 'Shirt', 'Hat', 'Skirt', 'Coat', 'Mat', 'Bottle'], demo_random(i, 303)),
  CASE r.retailer WHEN 'C7Fit' THEN 'C7Fit' ELSE demo_word(ARRAY[
    'Solana', 'Northwind', 'Atelier Bo', 'Hem & Co', 'Lumen', 'Fjord',
    'Paloma'], demo_random(i, 304)) END,
  demo_word(ARRAY['Made to be worn for years.', 'Light, and dries overnight.',
    'One size, many ways.',
    'A little too large on purpose.', 'The one from the window.', ''], demo_random(i, 305)),
  CASE WHEN demo_random(i, 306) < 0.95
    THEN (5 + floor(demo_random(i, 307) ^ 2 * 300) + 0.9)::numeric(12, 2) END,
  CASE WHEN demo_random(i, 306) < 0.95
    THEN demo_word(ARRAY['USD', 'EUR', 'MXN'], demo_random(i, 308)) END::char(3),
  demo_id('product_photo', i), 'https://shop.example.com/' || lower(r.retailer) || '/sku-' || i,
  0, demo_time(demo_random(i, 309))
FROM generate_series(0, demo_count('product') - 1) i,
  LATERAL (SELECT CASE WHEN i % 10 = 7 THEN 'C7Fit'
    ELSE demo_word(ARRAY['Arcadia', 'Mercado', 'Kiosk'], demo_random(i, 301)) END) r(retailer)

-- step: Shopping lists; table: shopping_list_item(user_id, product_id, added_at);
--   rows: 2000 * :scale
SELECT demo_id('user', u), demo_id('product', p), demo_time(demo_random(min(k), 313))
FROM (SELECT k, demo_pick(demo_count('user'), demo_random(k, 311), 1.3) AS u,
    demo_pick(demo_count('product'), demo_random(k, 312), 2) AS p
  FROM generate_series(0, 2000 * :scale - 1) k) s
GROUP BY u, p
