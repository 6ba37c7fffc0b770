SELECT ROW((SELECT ROW(t1_stock.copies, t1_stock.mark)
    FROM book AS t1
      LEFT JOIN stock_item AS t1_stock ON t1_stock.book_id = t1.id
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
