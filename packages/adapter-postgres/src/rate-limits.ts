import type {
  AskedWithCount,
  CountOfKey,
  IdempotencyKey,
  RateLimitState,
  SharedRateLimits,
  StoredRequest,
} from '@ostiary/core/storage';
import { isLive } from './api-keys.ts';
import { partnerHolds } from './consents.ts';
import type { Database } from './database.ts';
import { isRepeatedInOne, StorageUnavailableError } from './errors.ts';
import { inGroups } from './groups.ts';
import { patienceLeft } from './patience.ts';
import { clockToleranceMs, postgresPeek } from './peek.ts';
import { prepared } from './statement.ts';

type Request = Parameters<SharedRateLimits['consume']>[0];
type WindowRow = Omit<RateLimitState, 'allowed'>;
interface CountedRow extends WindowRow {
  readonly bucket: string;
  /** How many of the requests were counted. */
  readonly granted: number;
  /** Which of the API keys live, and the records of idempotency keys; of all buckets, in one of the rows. */
  readonly live: readonly string[] | null;
  readonly records?: readonly RecordRow[] | null;
  /** Which of the consents are held, by their places. */
  readonly held?: readonly number[] | null;
}

/** A record as JSON. */
interface RecordRow extends IdempotencyKey {
  /** As hexadecimal digits. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

/** Requests, and what is asked for with them, all as JSON: of arrays PostgreSQL would see the lengths, and plan for each anew. */
interface Counting {
  readonly buckets: string;
  readonly keys: string;
  readonly replays: string;
  /** With their places. */
  readonly consents: string;
  readonly now: number;
}

/** A request, and what is asked for with it. */
interface Counted extends Request, AskedWithCount {
  readonly keyId: string | null;
}

type Answer = Omit<CountOfKey, keyof RateLimitState> & { readonly state: RateLimitState };

const nothing = { keyId: null, idempotencyKey: null, consent: null };

const nameOf = ({ bucket, limit, windowMs }: Request): string => `${limit} ${windowMs} ${bucket}`;

/** Tells whether a window is over. One that ends later than it can began before the clock went back. */
const isOver = `(last.ends_at <= :now OR last.ends_at > excluded.ends_at + ${clockToleranceMs})`;

/**
 * Another statement for each combination of what is asked for: where a part is left out by a parameter, planning for its value looks
 * cheaper than the plan for all values, and each call is planned anew.
 */
function statementOf(schema: string, asks: { readonly replays: boolean; readonly consents: boolean }) {
  // One statement, which answers in every case. With a condition on the update, and a look at the row where it does
  // not hold, that look would see the row as it was when the statement began, or not at all. So refused requests
  // change the row too: it says that they were refused. The table is unlogged, and still the server writes something
  // that its commit would wait for, such as when the table grows; `set_config` ends with this statement. In the order of
  // the buckets, so that two processes do not wait for each other in a circle.
  //
  // What is proposed has the limit as `granted`, and as `count` what a new window would grant: so an update knows both.
  return prepared<Counting, CountedRow>(`
    WITH counted AS (
      INSERT INTO ${schema}.rate_limits AS last (bucket, granted, count, ends_at)
      SELECT bucket, most, least(requests, most), :now::bigint + window_ms
      FROM json_to_recordset(:buckets::json)
        AS asked (bucket text, most integer, window_ms bigint, requests integer)
      WHERE set_config('synchronous_commit', 'off', true) = 'off'
      ORDER BY bucket COLLATE "C"
      ON CONFLICT (bucket) DO UPDATE SET
        granted = CASE
          WHEN ${isOver} THEN excluded.count
          ELSE greatest(0, least(excluded.count, excluded.granted - last.count))
        END,
        count = CASE
          WHEN ${isOver} THEN excluded.count
          ELSE last.count + greatest(0, least(excluded.count, excluded.granted - last.count))
        END,
        ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE last.ends_at END
      RETURNING bucket, least(granted, count) AS granted, count, ends_at
    )
    SELECT bucket, granted, count, ends_at AS "endsAt", CASE WHEN row_number() OVER () = 1 THEN ARRAY (
      SELECT id FROM ${schema}.api_keys JOIN ${schema}.partners ON partners.slug = api_keys.partner
      WHERE id = ANY (ARRAY (SELECT json_array_elements_text(:keys::json))) AND ${isLive}
    ) END AS live
    ${
      asks.replays
        ? `, CASE WHEN row_number() OVER () = 1 THEN (
      SELECT json_agg(found)
      FROM json_to_recordset(:replays::json) AS asked (partner text, mode text, key text)
      CROSS JOIN LATERAL (
        SELECT partner, mode, key, encode(fingerprint, 'hex') AS fingerprint, status, body
        FROM ${schema}.idempotency_records AS record
        WHERE record.partner = asked.partner AND record.mode = asked.mode AND record.key = asked.key
          AND record.ends_at > :now
        LIMIT 1
      ) AS found
    ) END AS records`
        : ''
    }
    ${
      asks.consents
        ? `, CASE WHEN row_number() OVER () = 1 THEN ARRAY (
      SELECT place
      FROM json_to_recordset(:consents::json) AS asked (place integer, partner text, sub text, scope text)
      CROSS JOIN LATERAL (${partnerHolds(schema, 'asked.')}) AS found
    ) END AS held`
        : ''
    }
    FROM counted
  `);
}

export function postgresRateLimits(database: Database): SharedRateLimits {
  const sql = {
    both: statementOf(database.schema, { replays: true, consents: true }),
    replays: statementOf(database.schema, { replays: true, consents: false }),
    consents: statementOf(database.schema, { replays: false, consents: true }),
    neither: statementOf(database.schema, { replays: false, consents: false }),
  };

  // Every request of a key is counted in one row: a busy key takes one connection, and not all.
  const consume = inGroups({
    // The same bucket with two limits.
    isOfOne: isRepeatedInOne,
    async make(group: readonly Counted[], waitedMs) {
      const buckets = Map.groupBy(group, nameOf);
      const replays = group.flatMap(({ idempotencyKey }) => idempotencyKey ?? []);
      const consents = group.flatMap(({ consent }, place) => (consent === null ? [] : { ...consent, place }));
      const counting = {
        buckets: JSON.stringify([...buckets.values()].flatMap(countedRowOf)),
        keys: JSON.stringify([...new Set(group.flatMap(({ keyId }) => keyId ?? []))]),
        replays: JSON.stringify(replays),
        consents: JSON.stringify(consents),
        now: Math.max(...group.map((request) => request.now)),
      };
      const rows = await database.changeUnsynced(
        (connection) => sql[partsOf(replays, consents)].all(connection, counting),
        patienceLeft(waitedMs),
      );
      const live = new Set(rows.flatMap((row) => row.live ?? []));
      const records = new Map(rows.flatMap((row) => row.records ?? []).map((row) => [nameOfKey(row), row]));
      const held = new Set(rows.flatMap((row) => row.held ?? []));
      const counted = new Map(rows.map((row) => [row.bucket, row]));
      const seen = new Map<string, number>();
      return group.map(({ bucket, keyId, idempotencyKey }, place): Answer => {
        const row = counted.get(bucket);
        if (row === undefined) throw new StorageUnavailableError('a request was not counted');
        const index = seen.get(bucket) ?? 0;
        seen.set(bucket, index + 1);
        const allowed = index < row.granted;
        const count = allowed ? row.count - row.granted + index + 1 : row.count;
        return {
          state: { allowed, count, endsAt: row.endsAt },
          keyIsLive: keyId !== null && live.has(keyId),
          earlier: storedOf(idempotencyKey === null ? undefined : records.get(nameOfKey(idempotencyKey))),
          holdsConsent: held.has(place),
        };
      });
    },
  });

  return {
    consume: async (request) => (await consume({ ...request, ...nothing })).state,

    async consumeOfKey(keyId, request, asked) {
      const { state, ...answers } = await consume({ ...request, ...asked, keyId });
      return { ...state, ...answers };
    },

    peek: postgresPeek(database),
  };
}

/** Requests of one bucket as one row. */
function countedRowOf(requests: readonly Request[]) {
  return requests.slice(0, 1).map(({ bucket, limit, windowMs }) => {
    return { bucket, most: limit, window_ms: windowMs, requests: requests.length };
  });
}

function partsOf({ length: replays }: readonly unknown[], { length: consents }: readonly unknown[]) {
  if (replays > 0) return consents > 0 ? 'both' : 'replays';
  return consents > 0 ? 'consents' : 'neither';
}

/** No partner's slug has a space. */
function nameOfKey({ partner, mode, key }: IdempotencyKey): string {
  return `${partner} ${mode} ${key}`;
}

function storedOf(row: RecordRow | undefined): StoredRequest | null {
  if (row === undefined) return null;
  const { fingerprint, status, body } = row;
  return { fingerprint: Buffer.from(fingerprint, 'hex'), answer: { status, body } };
}
