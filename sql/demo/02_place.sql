-- Some fifty cities with their countries and regions, and places scattered around them.

-- step: Cities; run
CREATE UNLOGGED TABLE demo_city AS
SELECT position - 1 AS city_i, city, region, country, latitude::float8, longitude::float8,
  dense_rank() OVER (ORDER BY country COLLATE "C") - 1 AS country_i,
  dense_rank() OVER (ORDER BY country COLLATE "C", region COLLATE "C") - 1 AS region_i
FROM unnest(ARRAY[
  'Mexico City|Ciudad de México|Mexico|19.433|-99.133', 'Guadalajara|Jalisco|Mexico|20.667|-103.35',
  'Lisbon|Lisboa|Portugal|38.722|-9.139', 'New York|New York|United States|40.713|-74.006',
  'Tokyo|Kanto|Japan|35.677|139.65', 'Barcelona|Catalonia|Spain|41.385|2.173',
  'Rio de Janeiro|Rio de Janeiro|Brazil|-22.907|-43.173', 'Paris|Île-de-France|France|48.857|2.352',
  'Cape Town|Western Cape|South Africa|-33.925|18.424',
  'Sydney|New South Wales|Australia|-33.869|151.209',
  'Rome|Lazio|Italy|41.903|12.496', 'Istanbul|Marmara|Turkey|41.008|28.978',
  'London|England|United Kingdom|51.507|-0.128',
  'San Francisco|California|United States|37.775|-122.419',
  'Kyoto|Kansai|Japan|35.012|135.768', 'Buenos Aires|Buenos Aires|Argentina|-34.604|-58.382',
  'Berlin|Berlin|Germany|52.52|13.405', 'Amsterdam|North Holland|Netherlands|52.368|4.904',
  'Marrakesh|Marrakesh-Safi|Morocco|31.63|-7.981', 'Bangkok|Bangkok|Thailand|13.756|100.502',
  'Auckland|Auckland|New Zealand|-36.849|174.763', 'Oaxaca|Oaxaca|Mexico|17.073|-96.727',
  'Los Angeles|California|United States|34.052|-118.244',
  'Chicago|Illinois|United States|41.878|-87.63',
  'Northfield|Minnesota|United States|44.458|-93.162', 'Porto|Norte|Portugal|41.158|-8.629',
  'Seville|Andalusia|Spain|37.389|-5.984', 'Madrid|Madrid|Spain|40.417|-3.704',
  'Nice|Provence|France|43.71|7.262', 'Venice|Veneto|Italy|45.441|12.316',
  'Florence|Tuscany|Italy|43.77|11.256', 'Vienna|Vienna|Austria|48.208|16.374',
  'Prague|Bohemia|Czechia|50.075|14.438', 'Copenhagen|Zealand|Denmark|55.676|12.568',
  'Stockholm|Stockholm|Sweden|59.329|18.069', 'Reykjavik|Capital Region|Iceland|64.147|-21.942',
  'Edinburgh|Scotland|United Kingdom|55.953|-3.188', 'Dublin|Leinster|Ireland|53.35|-6.26',
  'Athens|Attica|Greece|37.984|23.728', 'Dubrovnik|Dalmatia|Croatia|42.651|18.094',
  'Cairo|Cairo|Egypt|30.044|31.236', 'Nairobi|Nairobi|Kenya|-1.292|36.822',
  'Mumbai|Maharashtra|India|19.076|72.878', 'Singapore|Singapore|Singapore|1.352|103.82',
  'Hanoi|Red River Delta|Vietnam|21.028|105.834', 'Seoul|Seoul|South Korea|37.567|126.978',
  'Suva|Central|Fiji|-18.142|178.442', 'Vancouver|British Columbia|Canada|49.283|-123.121',
  'Montreal|Quebec|Canada|45.502|-73.567', 'Lima|Lima|Peru|-12.046|-77.043',
  'Cusco|Cusco|Peru|-13.532|-71.967', 'Cartagena|Bolívar|Colombia|10.391|-75.479',
  'Santiago|Santiago|Chile|-33.449|-70.669', 'Havana|Havana|Cuba|23.114|-82.367'
]) WITH ORDINALITY AS line(text, position),
  LATERAL (SELECT split_part(text, '|', 1), split_part(text, '|', 2), split_part(text, '|', 3),
    split_part(text, '|', 4), split_part(text, '|', 5)
  ) c(city, region, country, latitude, longitude);
-- only as many numbers as there are names
UPDATE demo_range SET count = n
FROM (SELECT 'city' AS what, count(*) AS n FROM demo_city
  UNION ALL SELECT 'region', max(region_i) + 1 FROM demo_city
  UNION ALL SELECT 'country', max(country_i) + 1 FROM demo_city) c
WHERE demo_range.what = c.what;

-- step: Countries, regions and cities; table: location(id, name, name_key, level, parent_id,
--   ancestor_ids, latitude, longitude, created_at); rows: 150
SELECT demo_id('country', country_i), country, folded(country), 'COUNTRY'::location_level,
  NULL::bigint, '{}'::bigint[], NULL::float8, NULL::float8, demo_time(0)
FROM demo_city GROUP BY country_i, country
UNION ALL
SELECT demo_id('region', region_i), region, folded(region), 'REGION',
  demo_id('country', country_i), ARRAY[demo_id('country', country_i)], NULL, NULL, demo_time(0)
FROM demo_city GROUP BY country_i, region_i, region
UNION ALL
SELECT demo_id('city', city_i), city, folded(city), 'CITY', demo_id('region', region_i),
  ARRAY[demo_id('country', country_i), demo_id('region', region_i)], latitude, longitude,
  demo_time(0)
FROM demo_city

-- step: Places; table: location(id, name, name_key, level, place_type, gmaps_id, parent_id,
--   ancestor_ids, latitude, longitude, created_at); rows: 200 + 200 * :scale
SELECT demo_id('place', i), n.name, folded(n.name), 'PLACE'::location_level, t.place_type,
  CASE WHEN i = 0 THEN 'ChIJd8BlQ2BZwokRAFUEcm_qrcA'   -- the one the sample operations ask for
    WHEN demo_random(i, 102) < 0.8 THEN 'demo-' || md5('place ' || i) END,
  demo_id('city', c.city_i),
  ARRAY[demo_id('country', c.country_i), demo_id('region', c.region_i), demo_id('city', c.city_i)],
  -- a cloud of some ten kilometres around the centre
  c.latitude + 0.06 * sqrt(-2 * ln(1 - demo_random(i, 103))) * cos(2 * pi() * demo_random(i, 104)),
  c.longitude + 0.08 * sqrt(-2 * ln(1 - demo_random(i, 103))) * sin(2 * pi() * demo_random(i, 104)),
  demo_time(demo_random(i, 105) * 0.3)
FROM generate_series(0, demo_count('place') - 1) i
  JOIN demo_city c ON c.city_i = CASE WHEN i < 2 THEN i
    ELSE demo_pick(demo_count('city'), demo_random(i, 101), 1.6) END,
  LATERAL (SELECT CASE WHEN i < 2 THEN 'NATURE' ELSE demo_word(ARRAY[
    'ATTRACTION', 'NATURE', 'BEACH', 'MUSEUM', 'CAMPUS', 'DINING', 'FITNESS', 'SHOP', 'OTHER',
    'NATURE', 'ATTRACTION', 'DINING'], demo_random(i, 106)) END) t(place_type),
  LATERAL (SELECT demo_word(ARRAY['Old', 'Blue', 'Hidden', 'Upper', 'Grand', 'Quiet', 'Sunny',
    'Stone', 'Little', 'Northern', 'Royal', 'Garden', 'Silver', 'Lower', 'Windy', 'Golden'],
    demo_random(i, 107)) || ' ' || CASE t.place_type
      WHEN 'ATTRACTION' THEN demo_word(ARRAY['Tower', 'Square', 'Bridge', 'Gate'],
        demo_random(i, 108))
      WHEN 'NATURE' THEN demo_word(ARRAY['Park', 'Lagoon', 'Falls', 'Ridge'], demo_random(i, 108))
      WHEN 'BEACH' THEN demo_word(ARRAY['Beach', 'Cove', 'Bay', 'Sands'], demo_random(i, 108))
      WHEN 'MUSEUM' THEN demo_word(ARRAY['Museum', 'Gallery', 'Archive'], demo_random(i, 108))
      WHEN 'CAMPUS' THEN demo_word(ARRAY['Library', 'Hall', 'Quad'], demo_random(i, 108))
      WHEN 'DINING' THEN demo_word(ARRAY['Kitchen', 'Café', 'Market', 'Table'], demo_random(i, 108))
      WHEN 'FITNESS' THEN demo_word(ARRAY['Gym', 'Studio', 'Track'], demo_random(i, 108))
      WHEN 'SHOP' THEN demo_word(ARRAY['Arcade', 'Bazaar', 'Boutique'], demo_random(i, 108))
      ELSE demo_word(ARRAY['Corner', 'Yard', 'Steps'], demo_random(i, 108)) END
    || ' of ' || c.city) n(name)
