-- Since when two people are hidden from each other: what they write in a conversation of more people is hidden from
-- then on, and what they wrote before stays. Of the blocks that are there already nobody knows when they began.

ALTER TABLE block ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN block.created_at IS 'When the blocker blocked the other.';

ALTER TABLE hidden ADD COLUMN since timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN hidden.since IS 'When the first of the two blocked the other, of the blocks that are still there.';
