SELECT ROW((SELECT ROW(t1_shelf.room)
    FROM book AS t1
      LEFT JOIN stock_item AS t1_stock ON t1_stock.book_id = t1.id
      LEFT JOIN shelf AS t1_shelf ON t1_shelf.id = t1_stock.shelf_id
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
