SELECT ROW((SELECT ROW(t1.title, t1_stock.copies)
    FROM book AS t1
      JOIN stock_item AS t1_stock ON t1_stock.book_id = t1.id
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
