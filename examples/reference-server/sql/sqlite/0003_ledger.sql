
      CREATE TABLE app_accounts (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('user', 'partner', 'external')),
        owner TEXT NOT NULL,
        currency TEXT NOT NULL CHECK (currency IN ('HTG', 'USD')),
        balance INTEGER NOT NULL,
        UNIQUE (kind, owner, currency),
        CHECK (kind = 'external' OR balance >= 0)
      ) STRICT;
      CREATE TABLE app_movements (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('opening', 'funding', 'transfer')),
        currency TEXT NOT NULL CHECK (currency IN ('HTG', 'USD')),
        posted_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE app_postings (
        movement_id TEXT NOT NULL REFERENCES app_movements,
        account_id INTEGER NOT NULL REFERENCES app_accounts,
        amount INTEGER NOT NULL CHECK (amount <> 0),
        PRIMARY KEY (movement_id, account_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX app_postings_by_account ON app_postings (account_id);
      CREATE TABLE app_executions (
        transfer_id TEXT PRIMARY KEY,
        failure TEXT,
        decided_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO app_accounts (kind, owner, currency, balance)
        SELECT 'user', sub, 'HTG', htg_minor FROM app_users WHERE htg_minor <> 0
        UNION ALL SELECT 'user', sub, 'USD', usd_minor FROM app_users WHERE usd_minor <> 0;
      INSERT INTO app_accounts (kind, owner, currency, balance)
        SELECT 'external', '', currency, -sum(balance) FROM app_accounts GROUP BY currency;
      INSERT INTO app_movements (id, kind, currency, posted_at)
        SELECT 'open_' || owner || '_' || currency, 'opening', currency, created_at
        FROM app_accounts JOIN app_users ON sub = owner WHERE kind = 'user';
      INSERT INTO app_postings (movement_id, account_id, amount)
        SELECT 'open_' || owner || '_' || currency, id, balance FROM app_accounts WHERE kind = 'user';
      INSERT INTO app_postings (movement_id, account_id, amount)
        SELECT 'open_' || wallet.owner || '_' || wallet.currency, world.id, -wallet.balance
        FROM app_accounts AS wallet
        JOIN app_accounts AS world ON world.kind = 'external' AND world.currency = wallet.currency
        WHERE wallet.kind = 'user';
      CREATE TRIGGER app_postings_stay BEFORE UPDATE ON app_postings
        BEGIN SELECT RAISE(ABORT, 'a posting is never changed'); END;
      CREATE TRIGGER app_postings_last BEFORE DELETE ON app_postings
        BEGIN SELECT RAISE(ABORT, 'a posting is never deleted'); END;
      ALTER TABLE app_users DROP COLUMN htg_minor;
      ALTER TABLE app_users DROP COLUMN usd_minor;