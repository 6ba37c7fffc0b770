SELECT ROW((SELECT ROW(t1_hours.opens_at)
    FROM branch AS t1
      LEFT JOIN opening_hours AS t1_hours ON t1_hours.branch_id = t1.id
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
