-- How many of the numbered attempts were cut off: by a worker that stopped, or that died while it held the delivery. They are no
-- failures of the endpoint. From now on `attempts` counts these as well, and not only those that are logged.
ALTER TABLE deliveries ADD COLUMN cut_off INTEGER NOT NULL DEFAULT 0;
